// Where everything in a matrix stands: pure arithmetic from words and a width.
import { fit, width } from './measure.js';
import { direction } from './words.js';

const LONGEST = 130;
const MARKER = 20;
/** A cell may be this much wider than high, so that the words over the columns can lie flat. */
const WIDEST = 1.9;
const USUAL = 1.4;

/**
 * @typedef {object} Layout
 * @property {number} w width of a cell
 * @property {number} h height of a cell
 * @property {number} left of the first column
 * @property {number} top of the first row
 * @property {number} width
 * @property {number} height
 * @property {number} font size of the labels
 * @property {number} angle by which the labels of columns are turned, for want of room, in degrees
 * @property {boolean} mirrored whether the first column is the rightmost: the source runs from right to left
 * @property {string[]} rows labels, cut to what fits
 * @property {string[]} columns
 * @property {(j: number) => number} x left edge of column j
 * @property {(i: number) => number} y top edge of row i
 * @property {(x: number, y: number) => {row: number, column: number} | null} at the cell at a point
 */

/** How the words over the columns lie: flat, slanted, or upright where there are many. @param {number} w @param {number} font */
const turned = (w, font) => (w >= font * 1.45 ? 45 : 90);

/**
 * @param {import('./types.js').Grid} grid
 * @param {number} room width that there is
 * @param {{largest?: number, tall?: number}} [sizes] of a cell, and the height that all rows should keep to
 * @returns {Layout}
 */
export function layOut(grid, room, { largest = room > 1000 ? 74 : 56, tall = Infinity } = {}) {
    const n = Math.max(1, grid.columns.length),
        m = Math.max(1, grid.rows.length);
    const most = Math.max(Math.min(largest, 26), Math.min(largest, Math.floor(tall / m)));
    const usual = room > 1000 && most > 40 ? 22 : room > 480 ? 16 : 14;
    const font = Math.max(10, Math.min(usual, Math.floor((room - 80) / n)));
    const rows = grid.rows.map((word) => fit(word.text, font, Math.min(LONGEST, room / 4)));
    const columns = grid.columns.map((word) => fit(word.text, font, LONGEST));
    const left = Math.ceil(Math.max(0, ...rows.map((text) => width(text, font)))) + 14;
    const widest = Math.max(0, ...columns.map((text) => width(text, font)));
    const flat = widest + 12 <= Math.min(most * WIDEST, (room - left - MARKER) / n);
    const angle = flat ? 0 : turned((room - left - MARKER) / n, font);
    const overhang = angle === 45 ? Math.ceil(widest * 0.71) : 0;
    const fitting = Math.floor((room - left - Math.max(MARKER, overhang * 0.8)) / n);
    const h = Math.max(font + 1, Math.min(most, flat ? most : fitting));
    const w = flat ? Math.min(fitting, Math.max(Math.round(h * USUAL), Math.ceil(widest) + 12)) : h;
    const mirrored = direction(grid.columns.map((word) => word.text).join(' ')) === 'rtl';
    const top = flat ? font + 14 : angle === 45 ? overhang + 16 : widest + 16;
    const x = (/** @type {number} */ j) => left + w * (mirrored ? n - 1 - j : j);
    const y = (/** @type {number} */ i) => top + h * i;
    const at = (/** @type {number} */ px, /** @type {number} */ py) => {
        const place = Math.floor((px - left) / w),
            row = Math.floor((py - top) / h);
        if (place < 0 || place >= n || row < 0 || row >= grid.rows.length) return null;
        return { row, column: mirrored ? n - 1 - place : place };
    };
    const size = { width: left + w * n + Math.max(MARKER, overhang), height: top + h * m + 6 };
    return { w, h, left, top, font, angle, mirrored, rows, columns, x, y, at, ...size };
}
