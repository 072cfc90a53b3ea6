// The panel beside the picture: what the selected word reads, as bars and as numbers.
import { fill, h } from './dom.js';
import { argmax, entropy, total } from './numbers.js';

const MOST = 9;

/**
 * @param {HTMLElement} place
 * @param {import('./types.js').Grid} grid
 * @param {import('./matrix.js').Light} light
 */
export function showReading(place, grid, light) {
    const row = light.row ?? light.at;
    if (light.column !== null && light.row === null) return showColumn(place, grid, light.column);
    if (row === null || !grid.weights[row]) {
        return fill(
            place,
            h(
                'p',
                { class: 'hint' },
                'Point at a word, or press ',
                h('b', {}, 'Next'),
                ', to see what the model reads as it writes.',
            ),
        );
    }
    const weights = /** @type {number[]} */ (grid.weights[row]);
    const most = grid.columns[argmax(weights)]?.text;
    fill(
        place,
        h('h2', {}, grid.rows[row]?.text),
        h('p', { class: 'verb' }, 'reads'),
        bars(
            weights,
            grid.columns.map((word) => word.text),
        ),
        h(
            'dl',
            { class: 'facts' },
            h('dt', {}, 'entropy'),
            h('dd', { 'data-fact': 'entropy' }, `${entropy(weights).toFixed(2)} nat`),
            h('dt', {}, 'most at'),
            h('dd', {}, h('em', {}, most)),
            h('dt', {}, 'sum'),
            h('dd', {}, total(weights).toFixed(2)),
        ),
    );
}

/** @param {HTMLElement} place @param {import('./types.js').Grid} grid @param {number} column */
function showColumn(place, grid, column) {
    const weights = grid.weights.map((row) => row[column] ?? 0);
    const sum = total(weights);
    fill(
        place,
        h('h2', {}, grid.columns[column]?.text),
        h('p', { class: 'verb' }, 'is read by'),
        bars(
            weights,
            grid.rows.map((word) => word.text),
        ),
        h(
            'dl',
            { class: 'facts' },
            h('dt', {}, 'column sum'),
            h('dd', { 'data-fact': 'sum' }, sum.toFixed(2)),
            h('dt', {}, ''),
            h('dd', {}, sum < 0.3 ? 'hardly read' : sum > 1.8 ? 'read more than once' : 'read about once'),
        ),
    );
}

/** The largest weights, in the order of the sentence. @param {number[]} weights @param {string[]} words */
export function bars(weights, words) {
    const order = weights
        .map((_, i) => i)
        .sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0))
        .slice(0, MOST)
        .sort((a, b) => a - b);
    const rest = total(weights) - total(order.map((i) => weights[i] ?? 0));
    const bar = (/** @type {string | undefined} */ word, /** @type {number} */ weight) =>
        h(
            'li',
            { 'data-weight': weight },
            h('span', { class: 'word' }, word),
            h(
                'span',
                { class: 'well' },
                h('span', { class: 'bar', style: { width: `${Math.min(100, weight * 100)}%` } }),
            ),
            h('span', { class: 'value' }, weight.toFixed(2)),
        );
    return h(
        'ul',
        { class: 'bars' },
        order.map((i) => bar(words[i], weights[i] ?? 0)),
        rest > 0.005 ? bar(`${weights.length - order.length} others`, rest) : null,
    );
}
