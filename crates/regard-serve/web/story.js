// One sentence in words about what an edit did.
import { h } from './dom.js';
import { changes } from './words.js';

/** @typedef {import('./dom.js').Child} Child */
/** @typedef {{doing: string, rest: Child[]}} Phrase */

const MOST = 3;

/** @param {string[]} words */
const quoted = (words) => h('em', {}, words.join(' '));

/** @param {Child[][]} parts "a", "a and b", "a, b and c" */
function listed(parts) {
    return parts.flatMap((part, i) => [i === 0 ? '' : i === parts.length - 1 ? ' and ' : ', ', ...part]);
}

/** @param {{before: string[], after: string[]}} hunk @returns {Child[]} */
function happened({ before, after }) {
    if (before.length === 0) return ['added ', quoted(after)];
    if (after.length === 0) return ['took away ', quoted(before)];
    return ['changed ', quoted(before), ' to ', quoted(after)];
}

/** @param {Phrase[]} phrases what was done @returns {Child[]} */
function subject(phrases) {
    const parts = phrases.map(({ doing, rest }, i) => [i === 0 ? doing : doing.toLowerCase(), ...rest]);
    return listed(parts.map((part) => /** @type {Child[]} */ (part)));
}

/**
 * "Removing *black* changed *noir* to *petit* and nothing else."
 * @param {Phrase[]} phrases
 * @param {string[]} before words of the original translation
 * @param {string[]} after
 * @param {{token: string, tvd: number}[]} [steps] the distances of the next-token distributions, where they are known
 * @returns {Child[]}
 */
export function story(phrases, before, after, steps = []) {
    const hunks = changes(before, after);
    if (hunks.length === 0) return [...subject(phrases), ' changed no word.', ...largest(steps)];
    if (hunks.length === 1 && hunks[0])
        return [...subject(phrases), ' ', ...happened(hunks[0]), ' and nothing else.'];
    if (hunks.length <= MOST) return [...subject(phrases), ' ', ...listed(hunks.map(happened)), '.'];
    const words = hunks.reduce((sum, hunk) => sum + Math.max(hunk.before.length, hunk.after.length), 0);
    return [
        ...subject(phrases),
        ` changed ${words} of ${before.length} words, the first being `,
        quoted(hunks[0]?.before.length ? hunks[0].before : (hunks[0]?.after ?? [])),
        '.',
    ];
}

/** @param {{token: string, tvd: number}[]} steps @returns {Child[]} */
function largest(steps) {
    const most = steps.reduce((best, step) => (step.tvd > best.tvd ? step : best), { token: '', tvd: -1 });
    if (most.tvd < 0) return [];
    if (most.tvd < 0.0005) return [' The model’s belief about the next word did not move either.'];
    return [
        ' It moved belief most at ',
        quoted([most.token]),
        `, by ${most.tvd.toFixed(most.tvd < 0.01 ? 3 : 2)}.`,
    ];
}
