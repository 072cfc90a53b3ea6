// The matrix: a row a target word, a column a source word. SVG up to some thousands of cells, a canvas beneath the labels above.
import { Brush } from './brush.js';
import { isDark } from './colour.js';
import { fill, h, svg } from './dom.js';
import { layOut } from './matrix_layout.js';
import { canvas, cell, cells, cursor, figure, labels, marker, rings, veils } from './matrix_paint.js';
import { onResize } from './measure.js';
import { onTheme } from './theme.js';

/** @typedef {import('./types.js').Grid} Grid */
/** @typedef {{row: number, column: number}} Cell */
/** @typedef {{row: number | null, column: number | null, at: number | null}} Light what is lit: a row, a column, and how far Next has come */

/**
 * @typedef {object} Options
 * @property {string} label
 * @property {(cell: Cell | null) => void} [hover]
 * @property {(cell: Cell, place: DOMRect) => void} [open] a cell was clicked
 * @property {(side: 's' | 't', index: number) => void} [pick] a label was clicked
 * @property {(row: number, weights: number[]) => void} [paint] a row was repainted
 * @property {number} [largest] side of a cell
 */

const MOST_IN_SVG = 3000;
/** The rows should keep to this part of the window's height, so that what is under them is in sight. */
const TALL = 0.56;

export class Matrix {
    /** @param {Options} options */
    constructor(options) {
        this.options = options;
        /** @type {{grid: Grid, layout: import('./matrix_layout.js').Layout, shades: SVGGElement} | null} what is drawn */
        this.drawn = null;
        /** @type {Grid | null} */
        this.grid = null;
        /** @type {Light} */
        this.light = { row: null, column: null, at: null };
        /** @type {Cell} */
        this.cursor = { row: 0, column: 0 };
        /** @type {Cell | null} */
        this.pressed = null;
        /** @type {Brush | null} */
        this.brush = null;
        /** @type {Set<string>} */
        this.marked = new Set();
        this.said = h('p', { class: 'unseen', 'aria-live': 'polite' });
        this.picture = h('div', { class: 'picture' });
        const properties = {
            class: options.paint ? 'matrix editable' : 'matrix',
            tabindex: 0,
            role: 'group',
            'aria-label': options.label,
        };
        this.element = h('div', properties, this.picture, this.said);
        this.listen();
        const stop = [onResize(this.element, () => this.draw()), onTheme(() => this.draw())];
        this.close = () => stop.forEach((one) => one());
    }

    /**
     * @param {Grid} grid
     * @param {Set<string>} [marked] cells `row,column` or columns `,column` that an edit touches
     */
    show(grid, marked = new Set()) {
        this.grid = grid;
        this.marked = marked;
        const within = (/** @type {number} */ at, /** @type {number} */ count) =>
            Math.max(0, Math.min(at, count - 1));
        this.cursor = {
            row: within(this.cursor.row, grid.rows.length),
            column: within(this.cursor.column, grid.columns.length),
        };
        this.draw();
    }

    /** @param {Light} light */
    highlight(light) {
        this.light = light;
        this.shade();
    }

    draw() {
        const { grid, options } = this;
        const room = this.element.clientWidth;
        if (!grid || room === 0) return;
        const sizes = { tall: innerHeight * TALL, ...(options.largest ? { largest: options.largest } : {}) };
        const layout = layOut(grid, room, sizes);
        const many = grid.rows.length * grid.columns.length > MOST_IN_SVG;
        const shades = svg('g', { 'pointer-events': 'none' });
        this.drawn = { grid, layout, shades };
        const label = `${options.label}: ${grid.rows.length} rows, ${grid.columns.length} columns; the table below has every number`;
        const words = labels(layout, (side, index) => options.pick?.(side, index));
        const size = { width: layout.width, height: layout.height };
        const root = svg(
            'svg',
            { ...size, role: 'img', 'aria-label': label },
            many ? null : cells(grid, layout),
            words,
            rings(layout, this.marked),
            shades,
        );
        fill(this.picture, many ? canvas(grid, layout) : null, root);
        this.shade();
    }

    /** Veils over what is not lit, figures in what is read, the mark beside it, the brush and the cursor. */
    shade() {
        if (!this.drawn) return;
        const { grid, layout, shades } = this.drawn;
        const { row, column, at } = this.light;
        const current = row ?? at;
        const isRead = current !== null && current < grid.rows.length;
        const inRow = isRead ? grid.columns.map((_, j) => figure(grid, layout, current, j)) : null;
        const inColumn =
            column !== null && row === null ? grid.rows.map((_, i) => figure(grid, layout, i, column)) : null;
        const hasFocus = document.activeElement === this.element;
        fill(
            shades,
            veils(layout, this.light),
            inRow,
            inColumn,
            isRead ? marker(layout, current) : null,
            this.brushed(),
            hasFocus ? cursor(layout, this.cursor) : null,
        );
        for (const text of this.picture.querySelectorAll('.label')) {
            const { row: r, column: c } = /** @type {SVGElement} */ (text).dataset;
            const isFaint = row !== null ? Number(r) !== row : at !== null && Number(r) > at;
            text.classList.toggle('lit', r !== undefined ? Number(r) === current : Number(c) === column);
            text.classList.toggle(
                'faint',
                r !== undefined ? isFaint : column !== null && Number(c) !== column,
            );
        }
    }

    /** The row under the brush. */
    brushed() {
        const { brush, drawn } = this;
        if (!brush || !drawn) return null;
        const dark = isDark();
        return brush
            .weights(drawn.grid.columns.length)
            .map((weight, j) => cell(drawn.layout, weight, brush.row, j, dark));
    }

    listen() {
        const { element, options } = this;
        const cellAt = (/** @type {PointerEvent} */ event) => {
            const box = this.picture.getBoundingClientRect();
            return this.drawn?.layout.at(event.clientX - box.left, event.clientY - box.top) ?? null;
        };
        element.addEventListener('pointerdown', (event) => this.down(cellAt(event), event));
        element.addEventListener('pointermove', (event) => this.move(cellAt(event)));
        element.addEventListener('pointerup', (event) => this.up(cellAt(event)));
        element.addEventListener('pointercancel', () => this.drop());
        element.addEventListener('pointerleave', () => options.hover?.(null));
        element.addEventListener('keydown', (event) => this.key(event));
        element.addEventListener('keyup', (event) => event.key === 'Shift' && this.commit());
        element.addEventListener('focus', () => this.shade());
        element.addEventListener('blur', () => this.drop());
    }

    /** @param {Cell | null} at @param {PointerEvent} event */
    down(at, event) {
        if (!at || event.button !== 0) return;
        this.cursor = at;
        this.pressed = at;
        if (this.options.paint) this.picture.setPointerCapture(event.pointerId);
    }

    /** @param {Cell | null} at */
    move(at) {
        const { pressed } = this;
        if (!pressed || !this.options.paint) this.options.hover?.(at);
        else if (at && (this.brush || at.column !== pressed.column)) this.touch(pressed, at.column);
    }

    /** @param {Cell} from @param {number} column */
    touch(from, column) {
        this.brush ??= new Brush(from.row, from.column);
        this.brush.touch(column);
        this.shade();
    }

    /** @param {Cell | null} at */
    up(at) {
        const { pressed } = this;
        this.pressed = null;
        if (this.brush) this.commit();
        else if (at && pressed && at.row === pressed.row && at.column === pressed.column) this.open(at);
    }

    /** @param {Cell} at */
    open(at) {
        if (!this.drawn) return;
        const { x, y, w, h: high } = this.drawn.layout;
        const box = this.picture.getBoundingClientRect();
        this.options.open?.(at, new DOMRect(box.left + x(at.column), box.top + y(at.row), w, high));
    }

    commit() {
        const { brush, grid } = this;
        this.drop();
        if (brush && grid) this.options.paint?.(brush.row, brush.weights(grid.columns.length));
    }

    drop() {
        this.brush = null;
        this.pressed = null;
        this.shade();
    }

    /** Arrow keys move over the cells; with Shift they paint; Enter opens. @param {KeyboardEvent} event */
    key(event) {
        if (!this.drawn || event.ctrlKey || event.metaKey || event.altKey) return;
        const sign = this.drawn.layout.mirrored ? -1 : 1;
        const step = { ArrowLeft: [0, -sign], ArrowRight: [0, sign], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[
            event.key
        ];
        if (step) this.go(step[0] ?? 0, step[1] ?? 0, event.shiftKey);
        else if (event.key === 'Enter' || event.key === ' ') this.open(this.cursor);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }

    /** @param {number} down @param {number} right @param {boolean} paints */
    go(down, right, paints) {
        const { rows, columns } = /** @type {Grid} */ (this.grid);
        const within = (/** @type {number} */ value, /** @type {number} */ count) =>
            Math.max(0, Math.min(count - 1, value));
        const from = this.cursor;
        this.cursor = {
            row: within(from.row + down, rows.length),
            column: within(from.column + right, columns.length),
        };
        if (paints && this.options.paint && right !== 0) this.touch(from, this.cursor.column);
        this.say();
        this.options.hover?.(this.cursor);
        this.shade();
    }

    say() {
        const { row, column } = this.cursor;
        const { rows, columns, weights } = /** @type {Grid} */ (this.grid);
        this.said.textContent = `${rows[row]?.text} reads ${columns[column]?.text}: ${(weights[row]?.[column] ?? 0).toFixed(2)}`;
    }
}
