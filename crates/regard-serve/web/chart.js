// A line chart as a textbook would print it: few ticks, bands for intervals, each line named where it ends.
import { line } from './colour.js';
import { fill, h, svg } from './dom.js';
import { onResize, width } from './measure.js';
import { onTheme } from './theme.js';
import { behind } from './table.js';

/** @typedef {{value: number | null, low?: number | null, high?: number | null}} Point */
/** @typedef {{name: string, points: Point[]}} Series */
/** @typedef {{title: string, x: string, y: string, ticks: string[], series: Series[], top?: number, digits?: number, pick?: (index: number) => void, picked?: number}} Chart */

const MARGIN = { left: 58, top: 14, bottom: 44 };

/** Round steps that make four or so of `top`. @param {number} top */
function step(top) {
    const rough = top / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10);
}

/**
 * @param {Chart} chart
 * @returns {{element: HTMLElement, close: () => void}}
 */
export function lineChart(chart) {
    const place = h('div', { class: 'plot' });
    const digits = chart.digits ?? 1;
    const text = (/** @type {Point | undefined} */ point) => {
        if (!point || point.value === null) return '–';
        const interval =
            typeof point.low === 'number' && typeof point.high === 'number'
                ? ` (${point.low.toFixed(digits)}–${point.high.toFixed(digits)})`
                : '';
        return point.value.toFixed(digits) + interval;
    };
    const rows = chart.ticks.map((tick, i) => [
        tick,
        ...chart.series.map((series) => text(series.points[i])),
    ]);
    const element = h(
        'figure',
        { class: 'chart' },
        h('figcaption', {}, chart.title),
        place,
        behind(chart.title, [chart.x, ...chart.series.map((series) => series.name)], rows),
    );
    const draw = () => place.clientWidth > 0 && fill(place, picture(chart, place.clientWidth));
    const stop = [onResize(place, draw), onTheme(draw)];
    return { element, close: () => stop.forEach((one) => one()) };
}

/** @param {Chart} chart @param {number} room */
function picture(chart, room) {
    const { ticks, series } = chart;
    const right = Math.max(16, ...series.map((one) => width(one.name, 15) + 14));
    const size = { width: room, height: Math.round(Math.min(340, Math.max(220, room * 0.42))) };
    const values = series.flatMap((one) =>
        one.points.map((point) => Math.max(point.value ?? 0, point.high ?? 0)),
    );
    const top = chart.top ?? Math.max(...values, 1e-9);
    const x = (/** @type {number} */ i) =>
        MARGIN.left +
        14 +
        (ticks.length < 2 ? 0 : (i / (ticks.length - 1)) * (room - MARGIN.left - right - 14));
    const y = (/** @type {number} */ value) =>
        size.height - MARGIN.bottom - (value / top) * (size.height - MARGIN.bottom - MARGIN.top);
    const names = apart(series.map((one) => y(one.points.at(-1)?.value ?? 0)));
    return svg(
        'svg',
        { ...size, role: 'img', 'aria-label': `${chart.title}; the table below has every number` },
        axes(chart, { x, y, top, size, right: room - right }),
        series.map((one, k) => curve(one, k, x, y)),
        series.map((one, k) =>
            svg(
                'text',
                {
                    x: x(ticks.length - 1) + 9,
                    y: (names[k] ?? 0) + 5,
                    class: 'name',
                    style: { fill: line(k) },
                },
                one.name,
            ),
        ),
    );
}

/**
 * @param {Chart} chart
 * @param {{x: (i: number) => number, y: (value: number) => number, top: number, size: {height: number}, right: number}} scale
 */
function axes(chart, { x, y, top, size, right }) {
    const by = step(top);
    const lines = Array.from({ length: Math.floor(top / by + 1e-9) + 1 }, (_, k) => k * by);
    const tick = (/** @type {string} */ text, /** @type {number} */ i) => {
        const pick = chart.pick
            ? { onclick: () => chart.pick?.(i), class: chart.picked === i ? 'tick picked' : 'tick pickable' }
            : { class: 'tick' };
        return svg(
            'text',
            { x: x(i), y: size.height - MARGIN.bottom + 18, 'text-anchor': 'middle', ...pick },
            text,
        );
    };
    const every = Math.max(1, Math.ceil((chart.ticks.length * 44) / Math.max(44, right - MARGIN.left)));
    return svg(
        'g',
        { class: 'axes' },
        lines.map((value) => [
            svg('line', { x1: MARGIN.left, x2: right, y1: y(value), y2: y(value) }),
            svg(
                'text',
                { class: 'tick', x: MARGIN.left - 8, y: y(value) + 4, 'text-anchor': 'end' },
                Number(value.toPrecision(3)),
            ),
        ]),
        chart.picked === undefined
            ? null
            : svg('line', {
                  class: 'picked',
                  x1: x(chart.picked),
                  x2: x(chart.picked),
                  y1: y(0),
                  y2: y(top),
              }),
        chart.ticks.map((text, i) => (i % every === 0 ? tick(text, i) : null)),
        svg(
            'text',
            { class: 'axis', x: (MARGIN.left + right) / 2, y: size.height - 6, 'text-anchor': 'middle' },
            chart.x,
        ),
        svg(
            'text',
            {
                class: 'axis',
                x: 14,
                y: (y(0) + y(top)) / 2,
                'text-anchor': 'middle',
                transform: `rotate(-90 14 ${(y(0) + y(top)) / 2})`,
            },
            chart.y,
        ),
    );
}

/** @param {Series} series @param {number} k @param {(i: number) => number} x @param {(value: number) => number} y */
function curve(series, k, x, y) {
    const known = series.points.flatMap((point, i) =>
        point.value === null ? [] : [{ ...point, i, value: point.value }],
    );
    const band = known.filter((point) => typeof point.low === 'number' && typeof point.high === 'number');
    const upper = band.map((point) => `${x(point.i)},${y(/** @type {number} */ (point.high))}`);
    const lower = band.map((point) => `${x(point.i)},${y(/** @type {number} */ (point.low))}`).reverse();
    const path = known.map((point, n) => `${n === 0 ? 'M' : 'L'}${x(point.i)} ${y(point.value)}`).join(' ');
    const dot = (/** @type {{i: number, value: number}} */ point) =>
        svg('circle', { cx: x(point.i), cy: y(point.value), r: 3.5, fill: line(k) });
    return svg(
        'g',
        {},
        svg('polygon', { points: [...upper, ...lower].join(' '), fill: line(k), opacity: 0.14 }),
        svg('path', { d: path, stroke: line(k), fill: 'none', 'stroke-width': 2 }),
        known.map(dot),
    );
}

/** Names that would lie on each other, moved apart. @param {number[]} places */
function apart(places) {
    const order = places.map((_, k) => k).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
    const moved = [...places];
    let last = -Infinity;
    for (const k of order) last = moved[k] = Math.max(moved[k] ?? 0, last + 18);
    return moved;
}
