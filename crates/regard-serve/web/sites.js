// Choosing which layer and head is shown, and saving the picture of it.
import { download } from './api.js';
import { button, h, picker } from './dom.js';
import { SITES, chosen, layersOf, nameOf } from './look.js';

/** @typedef {import('./types.js').App} App */

/** An option whose label is its value. @param {number} value @returns {[string, string]} */
const plain = (value) => [String(value), String(value)];

/** @param {string} value */
const number = (value) => (value === '' ? null : Number(value));

/**
 * As far as there is a choice.
 * @param {App} app
 * @param {import('./types.js').SiteWeights[]} sites
 */
export function sitePickers({ state, set }, sites) {
    if (sites.length < 2) return null;
    const kinds = SITES.filter(([site]) => sites.some((one) => one.site === site));
    const layers = layersOf(sites, state.site);
    const shown = chosen(sites, state);
    const [first] = shown;
    const heads = sites
        .filter((one) => one.site === state.site && one.layer === first?.layer)
        .map((one) => one.head);
    const setSite = (/** @type {string} */ site) =>
        set({
            site: /** @type {import('./types.js').SiteName} */ (site),
            layer: null,
            head: null,
            at: null,
            pick: '',
        });
    const setHead = (/** @type {string} */ head) => set({ head: number(head), layer: first?.layer ?? null });
    const head = shown.length === 1 ? String(first?.head) : '';
    return h(
        'div',
        { class: 'sites' },
        kinds.length > 1 && picker('who reads', kinds, state.site, setSite),
        layers.length > 1 &&
            picker('layer', layers.map(plain), String(first?.layer ?? ''), (layer) =>
                set({ layer: number(layer) }),
            ),
        heads.length > 1 && picker('head', [['', 'mean'], ...heads.map(plain)], head, setHead),
        h('p', { class: 'note' }, nameOf(shown)),
    );
}

/**
 * Buttons that save what `regard look` would make of the same.
 * @param {App} app
 * @param {{target?: string}} target
 * @param {import('./working.js').Working} working
 */
export function saveButtons({ state }, target, working) {
    const { model, text, site, layer, head } = state;
    const where = { site, ...(layer === null ? {} : { layer }), ...(head === null ? {} : { head }) };
    const save = (/** @type {string} */ format) =>
        working.run((signal) => download({ format, model, text, ...target, ...where }, signal));
    const one = (/** @type {string} */ format) =>
        button(format.toUpperCase(), () => save(format), { class: 'quiet' });
    return [h('span', {}, 'Save as'), ['svg', 'png', 'html', 'csv'].map(one)];
}
