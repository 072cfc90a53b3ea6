// All layers and heads as small multiples: one little matrix each, to be chosen from.
import { css, isDark, ramp } from './colour.js';
import { h } from './dom.js';
import { grid, layersOf, sides } from './look.js';
import { entropy, mean } from './numbers.js';

/** Side of a matrix in pixels: larger on a projector. */
const side = () => Math.round(Math.max(120, Math.min(210, innerWidth / 9.5)));

/**
 * @param {import('./types.js').Look} look
 * @param {import('./types.js').State} state
 * @param {(layer: number, head: number) => void} choose
 */
export function multiples(look, state, choose) {
    const { rows, columns } = sides(look, state.site);
    const layers = layersOf(look.sites, state.site);
    const one = (/** @type {import('./types.js').SiteWeights} */ site) => {
        const { weights } = grid(rows, columns, site.weights, state.units);
        const spread = mean(weights.map(entropy));
        const label = `layer ${site.layer}, head ${site.head}: mean entropy ${spread.toFixed(2)} nat`;
        const pressed = state.layer === site.layer && state.head === site.head;
        return h(
            'button',
            {
                type: 'button',
                class: 'multiple',
                title: label,
                'aria-label': label,
                'aria-pressed': String(pressed),
                onclick: () => choose(site.layer, site.head),
            },
            thumbnail(weights),
            h('span', {}, `head ${site.head}`, h('small', {}, `${spread.toFixed(2)} nat`)),
        );
    };
    return layers.map((layer) =>
        h(
            'section',
            { class: 'layer' },
            h('h3', {}, `Layer ${layer}`),
            h(
                'div',
                { class: 'multiples' },
                look.sites.filter((site) => site.site === state.site && site.layer === layer).map(one),
            ),
        ),
    );
}

/** A matrix without words, a canvas that keeps its cells sharp. @param {number[][]} weights */
export function thumbnail(weights) {
    const n = weights[0]?.length ?? 1,
        m = weights.length;
    const cell = Math.max(1, Math.floor((side() * 2) / Math.max(n, m)));
    const canvas = h('canvas', {
        width: n * cell,
        height: m * cell,
        'aria-hidden': 'true',
        style: { width: `${(n * cell) / 2}px`, height: `${(m * cell) / 2}px` },
    });
    const pen = canvas.getContext('2d');
    if (!pen) return canvas;
    const dark = isDark();
    const gap = cell > 6 ? 1 : 0;
    weights.forEach((row, i) =>
        row.forEach((weight, j) => {
            pen.fillStyle = css(ramp(weight, dark));
            pen.fillRect(j * cell, i * cell, cell - gap, cell - gap);
        }),
    );
    return canvas;
}
