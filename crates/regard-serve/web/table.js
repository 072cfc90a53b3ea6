// The real table behind a picture: folded away for the eye, always there for a screen reader and for copying.
import { h } from './dom.js';

/**
 * @param {string} caption
 * @param {string[]} columns the first names the rows
 * @param {(string | number)[][]} rows the first cell of each is its heading
 * @param {string} [summary]
 */
export function behind(caption, columns, rows, summary = 'As a table') {
    return h(
        'details',
        { class: 'behind' },
        h('summary', {}, summary),
        h('div', { class: 'scroll' }, table(caption, columns, rows)),
    );
}

/**
 * @param {string} caption
 * @param {string[]} columns
 * @param {(string | number | Node)[][]} rows
 */
export function table(caption, columns, rows) {
    const head = h(
        'tr',
        {},
        columns.map((column) => h('th', { scope: 'col' }, column)),
    );
    const row = (/** @type {(string | number | Node)[]} */ [first, ...cells]) =>
        h(
            'tr',
            {},
            h('th', { scope: 'row' }, first),
            cells.map((cell) => h('td', {}, cell)),
        );
    return h('table', {}, h('caption', {}, caption), h('thead', {}, head), h('tbody', {}, rows.map(row)));
}

/** The table of a matrix. @param {string} caption @param {import('./types.js').Grid} grid */
export function matrixTable(caption, grid) {
    const rows = grid.rows.map((row, i) => [
        row.text,
        ...(grid.weights[i] ?? []).map((weight) => weight.toFixed(3)),
    ]);
    return behind(caption, ['', ...grid.columns.map((column) => column.text)], rows);
}
