// The parts of a drawn matrix, each from the words, the weights and the layout alone.
import { css, isDark, ramp, textOn } from './colour.js';
import { h, svg } from './dom.js';
import { short } from './numbers.js';

/** @typedef {import('./types.js').Grid} Grid */
/** @typedef {import('./matrix_layout.js').Layout} Layout */

const GAP = 1.5;
/** Narrower cells have no room for figures. */
const ROOMY = 26;

/** @param {Layout} layout @param {number} weight @param {number} i @param {number} j @param {boolean} dark */
export function cell({ x, y, w, h: high }, weight, i, j, dark) {
    const place = { x: x(j) + GAP / 2, y: y(i) + GAP / 2, width: w - GAP, height: high - GAP };
    return svg('rect', { ...place, rx: Math.min(3, high / 10), fill: css(ramp(weight, dark)) });
}

/** @param {Grid} grid @param {Layout} layout */
export function cells({ weights }, layout) {
    const dark = isDark();
    return svg(
        'g',
        { class: 'cells' },
        weights.map((row, i) => row.map((weight, j) => cell(layout, weight, i, j, dark))),
    );
}

/** The cells of a large matrix, to lie beneath its labels. @param {Grid} grid @param {Layout} layout */
export function canvas({ weights }, { width, height, x, y, w, h: high }) {
    const scale = Math.min(2, devicePixelRatio || 1);
    const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
    const sheet = h('canvas', {
        ...size,
        'aria-hidden': 'true',
        style: { width: `${width}px`, height: `${height}px` },
    });
    const pen = sheet.getContext('2d');
    if (!pen) return sheet;
    pen.scale(scale, scale);
    const dark = isDark();
    weights.forEach((row, i) =>
        row.forEach((weight, j) => {
            pen.fillStyle = css(ramp(weight, dark));
            pen.fillRect(x(j) + 0.5, y(i) + 0.5, w - 1, high - 1);
        }),
    );
    return sheet;
}

/** @param {Layout} layout @param {(side: 's' | 't', index: number) => void} pick */
export function labels(layout, pick) {
    const { rows, columns, x, y, w, h: high, left, top, font, angle } = layout;
    const row = (/** @type {string} */ text, /** @type {number} */ i) => {
        const place = { x: left - 9, y: y(i) + high / 2, dy: '.34em', 'text-anchor': 'end' };
        return svg(
            'text',
            { class: 'label', 'data-row': i, ...place, 'font-size': font, onclick: () => pick('t', i) },
            text,
        );
    };
    const column = (/** @type {string} */ text, /** @type {number} */ j) => {
        const [cx, cy] = [x(j) + w / 2, top - 9];
        const turned = { transform: `rotate(-${angle} ${cx} ${cy})`, 'text-anchor': 'start', dy: '.25em' };
        const place = angle > 0 ? turned : { 'text-anchor': 'middle' };
        return svg(
            'text',
            {
                class: 'label',
                'data-column': j,
                x: cx,
                y: cy,
                ...place,
                'font-size': font,
                onclick: () => pick('s', j),
            },
            text,
        );
    };
    return svg('g', {}, rows.map(row), columns.map(column));
}

/** Rings round the cells `row,column` and the columns `,column` that edits touch. @param {Layout} layout @param {Set<string>} marked */
export function rings({ rows, x, y, w, h: high }, marked) {
    const ring = (/** @type {number} */ i, /** @type {number} */ j, /** @type {number} */ count) =>
        svg('rect', {
            class: 'edited',
            x: x(j) + 1.5,
            y: y(i) + 1.5,
            width: w - 3,
            height: high * count - 3,
            rx: Math.min(3, high / 10),
        });
    return svg(
        'g',
        { 'pointer-events': 'none' },
        [...marked].map((mark) => {
            const [row, column] = mark.split(',');
            return row === '' ? ring(0, Number(column), rows.length) : ring(Number(row), Number(column), 1);
        }),
    );
}

/** The weight of a cell in figures. @param {Grid} grid @param {Layout} layout @param {number} i @param {number} j */
export function figure({ weights }, { x, y, w, h: high }, i, j) {
    const weight = weights[i]?.[j] ?? 0;
    if (w < ROOMY || weight < 0.005) return null;
    const place = { x: x(j) + w / 2, y: y(i) + high / 2, dy: '.35em', 'text-anchor': 'middle' };
    const style = { fill: textOn(ramp(weight, isDark())) };
    return svg(
        'text',
        { class: 'figure', ...place, 'font-size': Math.min(17, w * 0.36, high * 0.44), style },
        short(weight),
    );
}

/**
 * Veils over what is not lit.
 * @param {Layout} layout
 * @param {import('./matrix.js').Light} light
 */
export function veils({ x, y, w, h: high, left, rows, columns }, { row, column, at }) {
    const isLater = (/** @type {number} */ i) => at !== null && i > at;
    const isLit = (/** @type {number} */ i) => (row !== null ? i === row : !isLater(i));
    const overRow = (/** @type {unknown} */ _, /** @type {number} */ i) =>
        isLit(i)
            ? null
            : svg('rect', {
                  class: isLater(i) ? 'veil later' : 'veil',
                  x: left,
                  y: y(i),
                  width: w * columns.length,
                  height: high,
              });
    const overColumn = (/** @type {unknown} */ _, /** @type {number} */ j) =>
        j === column
            ? null
            : svg('rect', { class: 'veil', x: x(j), y: y(0), width: w, height: high * rows.length });
    return [rows.map(overRow), column !== null && row === null ? columns.map(overColumn) : null];
}

/** The mark beside the row that is read. @param {Layout} layout @param {number} row */
export function marker({ left, w, h: high, y, columns }, row) {
    return svg('path', {
        class: 'marker',
        d: `M${left + w * columns.length + 6} ${y(row) + high / 2} l9 -5 v10 z`,
    });
}

/** The ring of who moves by keys. @param {Layout} layout @param {import('./matrix.js').Cell} at */
export function cursor({ x, y, w, h: high }, { row, column }) {
    return svg('rect', {
        class: 'cursor',
        x: x(column) + 1,
        y: y(row) + 1,
        width: w - 2,
        height: high - 2,
        rx: 2,
    });
}
