// From the server's answer to the matrix that is drawn: which site, which heads, at which temperature, words or pieces.
import { meanMatrix, softmax } from './numbers.js';
import { group, merge } from './words.js';

/** @typedef {import('./types.js').Look} Look */
/** @typedef {import('./types.js').SiteWeights} SiteWeights */
/** @typedef {import('./types.js').Grid} Grid */
/** @typedef {import('./types.js').SiteName} SiteName */

/** @type {[SiteName, string][]} */
export const SITES = [
    ['cross', 'target reads source'],
    ['encoder_self', 'source reads source'],
    ['decoder_self', 'target reads target'],
];

/**
 * The weights of a site at a temperature, from its scores, or from the logarithm of its weights where it has none: both give the
 * same, since the softmax forgets a constant. A row is left as it is at temperature 1.
 * @param {SiteWeights} site
 * @param {number} temperature
 */
export function heated(site, temperature) {
    if (temperature === 1) return site.weights;
    return site.weights.map((weights, i) => {
        const masked = (/** @type {number} */ j) => (weights[j] ?? 0) === 0;
        const scores = weights.map((weight, j) =>
            masked(j) ? null : (site.scores?.[i]?.[j] ?? Math.log(weight)),
        );
        return softmax(scores, temperature);
    });
}

/** The layers of a kind of site, in order. @param {import('./types.js').Site[]} sites @param {SiteName} name */
export const layersOf = (sites, name) =>
    [...new Set(sites.filter((one) => one.site === name).map((one) => one.layer))].sort((a, b) => a - b);

/**
 * The heads that are meant: all of the last layer where neither is named.
 * @template {import('./types.js').Site} S
 * @param {S[]} sites
 * @param {{site: SiteName, layer: number | null, head: number | null}} which
 */
export function chosen(sites, which) {
    const layers = layersOf(sites, which.site);
    const layer = which.layer !== null && layers.includes(which.layer) ? which.layer : layers.at(-1);
    const heads = sites.filter((one) => one.site === which.site && one.layer === layer);
    const named = heads.filter((one) => one.head === which.head);
    return named.length > 0 ? named : heads;
}

/** The tokens of rows and columns: a decoder's self-attention reads what was written before. @param {Look} look @param {SiteName} site */
export function sides(look, site) {
    const source = look.source_tokens,
        target = look.target_tokens;
    if (site === 'encoder_self') return { rows: source, columns: source };
    if (site === 'decoder_self') return { rows: target, columns: ['⟨start⟩', ...target.slice(0, -1)] };
    return { rows: target, columns: source };
}

/**
 * @param {Look} look
 * @param {{site: SiteName, layer: number | null, head: number | null, units: 'words' | 'pieces'}} which
 * @param {number} temperature
 * @returns {Grid | null} nothing where the model has no such site
 */
export function gridOf(look, which, temperature = 1) {
    const heads = chosen(look.sites, which);
    if (heads.length === 0) return null;
    const { rows, columns } = sides(look, which.site);
    return grid(rows, columns, meanMatrix(heads.map((head) => heated(head, temperature))), which.units);
}

/**
 * @param {string[]} rowTokens
 * @param {string[]} columnTokens
 * @param {number[][]} weights of tokens
 * @param {'words' | 'pieces'} units
 * @returns {Grid}
 */
export function grid(rowTokens, columnTokens, weights, units) {
    const rows = group(rowTokens, units),
        columns = group(columnTokens, units);
    return { rows, columns, weights: merge(weights, rows, columns) };
}

/** A site in words: "layer 2, head 3", or "layer 2, mean of 4 heads". @param {import('./types.js').Site[]} heads */
export function nameOf(heads) {
    const [first] = heads;
    if (!first) return '';
    return heads.length === 1
        ? `layer ${first.layer}, head ${first.head}`
        : `layer ${first.layer}, mean of ${heads.length} heads`;
}
