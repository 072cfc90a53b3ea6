// The second way of reading: lines between the two sentences, as thick as the weight. Side by side where the words fit in a
// line, one under the other in two columns where they do not.
import { fill, h, svg } from './dom.js';
import { onResize, width } from './measure.js';
import { onTheme } from './theme.js';
import { direction } from './words.js';

/** @typedef {import('./types.js').Grid} Grid */
/** @typedef {import('./matrix.js').Light} Light */

const FAINTEST = 0.03;
const THICKEST = 11;

/**
 * Places of words in a line, from left or, where they run left, from right.
 * @param {string[]} words
 * @param {number} font
 * @param {number} room
 */
function inLine(words, font, room) {
    const gap = font * 0.9;
    const widths = words.map((word) => width(word, font));
    const sum = widths.reduce((a, b) => a + b, 0) + gap * (words.length - 1);
    const spread = gap + Math.max(0, Math.min(gap * 2.2, (room - sum) / Math.max(1, words.length - 1)));
    const whole = widths.reduce((a, b) => a + b, 0) + spread * (words.length - 1);
    let at = (room - whole) / 2;
    const places = widths.map((w) => {
        const middle = at + w / 2;
        at += w + spread;
        return middle;
    });
    const mirrored = direction(words.join(' ')) === 'rtl';
    return { fits: sum <= room, places: mirrored ? places.map((place) => room - place) : places };
}

export class Links {
    /** @param {{label: string, hover: (side: 's' | 't', index: number | null) => void, pick: (side: 's' | 't', index: number) => void}} options */
    constructor(options) {
        this.options = options;
        /** @type {Grid | null} */
        this.grid = null;
        /** @type {Light} */
        this.light = { row: null, column: null, at: null };
        this.element = h('div', { class: 'links' });
        const stop = [onResize(this.element, () => this.draw()), onTheme(() => this.draw())];
        this.close = () => stop.forEach((one) => one());
    }

    /** @param {Grid} grid */
    show(grid) {
        this.grid = grid;
        this.draw();
    }

    draw() {
        const { grid } = this;
        const room = this.element.clientWidth;
        if (!grid || room === 0) return;
        const font = room > 900 ? 24 : room > 480 ? 20 : 17;
        const above = inLine(
            grid.columns.map((word) => word.text),
            font,
            room - 8,
        );
        const below = inLine(
            grid.rows.map((word) => word.text),
            font,
            room - 8,
        );
        const flat = above.fits && below.fits;
        const size = flat
            ? { width: room, height: Math.min(300, 130 + room / 6) }
            : {
                  width: Math.min(room, 520),
                  height: (Math.max(grid.rows.length, grid.columns.length) + 0.5) * font * 2,
              };
        const place = flat
            ? this.flat(above.places, below.places, font, size.height)
            : this.upright(font, size.width);
        const root = svg(
            'svg',
            {
                ...size,
                role: 'img',
                'aria-label': `${this.options.label}, as lines between the sentences; the table below has every number`,
            },
            this.curves(place, flat),
            this.words(place, flat, font),
        );
        fill(this.element, root);
        this.highlight(this.light);
    }

    /**
     * @typedef {{x: number, y: number}} Point
     * @param {number[]} above @param {number[]} below @param {number} font @param {number} height
     */
    flat(above, below, font, height) {
        return {
            source: above.map((x) => ({ x: x + 4, y: font + 4 })),
            target: below.map((x) => ({ x: x + 4, y: height - 12 })),
            ends: { source: font + 14, target: height - font - 18 },
        };
    }

    /** @param {number} font @param {number} room */
    upright(font, room) {
        const { rows, columns } = /** @type {Grid} */ (this.grid);
        const side = (/** @type {string[]} */ words) =>
            Math.min(room * 0.38, Math.max(...words.map((word) => width(word, font)), 10));
        const left = side(columns.map((word) => word.text)),
            right = room - side(rows.map((word) => word.text)) - 4;
        const down = (/** @type {number} */ i) => font * (1.4 + 2 * i);
        return {
            source: columns.map((_, j) => ({ x: left, y: down(j) })),
            target: rows.map((_, i) => ({ x: right, y: down(i) })),
            ends: { source: left + 8, target: right - 8 },
        };
    }

    /** @param {ReturnType<Links['flat']>} place @param {boolean} flat */
    curves(place, flat) {
        const { weights } = /** @type {Grid} */ (this.grid);
        const { source: a, target: b } = place.ends;
        const half = (a + b) / 2;
        const curve = (/** @type {number} */ weight, /** @type {number} */ i, /** @type {number} */ j) => {
            const from = place.source[j],
                to = place.target[i];
            if (weight < FAINTEST || !from || !to) return null;
            const [up, down] = [from.y - 6, to.y - 6];
            const d = flat
                ? `M${from.x} ${a} C${from.x} ${half} ${to.x} ${half} ${to.x} ${b}`
                : `M${a} ${up} C${half} ${up} ${half} ${down} ${b} ${down}`;
            return svg('path', {
                class: 'link',
                d,
                'data-row': i,
                'data-column': j,
                'stroke-width': Math.max(0.6, weight * THICKEST),
            });
        };
        return svg(
            'g',
            {},
            weights.map((row, i) => row.map((weight, j) => curve(weight, i, j))),
        );
    }

    /** @param {ReturnType<Links['flat']>} place @param {boolean} flat @param {number} font */
    words(place, flat, font) {
        const { rows, columns } = /** @type {Grid} */ (this.grid);
        const one = (
            /** @type {'s' | 't'} */ side,
            /** @type {string} */ text,
            /** @type {Point} */ at,
            /** @type {number} */ index,
        ) => {
            const { hover, pick } = this.options;
            const on = {
                onpointerenter: () => hover(side, index),
                onpointerleave: () => hover(side, null),
                onfocus: () => hover(side, index),
                onblur: () => hover(side, null),
                onclick: () => pick(side, index),
                onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === 'Enter' && pick(side, index),
            };
            const anchor = flat ? 'middle' : side === 's' ? 'end' : 'start';
            const data = side === 's' ? { 'data-column': index } : { 'data-row': index };
            return svg(
                'text',
                {
                    class: 'label',
                    tabindex: 0,
                    role: 'button',
                    'aria-label': `${side === 's' ? 'source' : 'target'} word ${text}`,
                    x: at.x,
                    y: at.y,
                    'font-size': font,
                    'text-anchor': anchor,
                    ...data,
                    ...on,
                },
                text,
            );
        };
        return svg(
            'g',
            {},
            columns.map((word, j) => one('s', word.text, /** @type {Point} */ (place.source[j]), j)),
            rows.map((word, i) => one('t', word.text, /** @type {Point} */ (place.target[i]), i)),
        );
    }

    /** @param {Light} light */
    highlight(light) {
        this.light = light;
        const { row, column, at } = light;
        const later = (/** @type {number} */ i) => at !== null && i > at;
        for (const link of this.element.querySelectorAll('.link')) {
            const [i, j] = [
                Number(/** @type {SVGElement} */ (link).dataset.row),
                Number(/** @type {SVGElement} */ (link).dataset.column),
            ];
            const lit =
                row !== null ? i === row : column !== null ? j === column : at !== null ? i === at : null;
            link.classList.toggle('lit', lit === true);
            link.classList.toggle('dim', lit === false);
            link.classList.toggle('later', row === null && later(i));
        }
        for (const text of this.element.querySelectorAll('.label')) {
            const { row: r, column: c } = /** @type {SVGElement} */ (text).dataset;
            text.classList.toggle('lit', r !== undefined ? Number(r) === (row ?? at) : Number(c) === column);
            text.classList.toggle('faint', r !== undefined && row === null && later(Number(r)));
        }
    }
}
