// How much of a gradient reaches each word of a sentence, in the models that are served.
import { post } from '../api.js';
import { lineChart } from '../chart.js';
import { button, fill, h } from '../dom.js';
import { finish } from '../jobs.js';
import { mean } from '../numbers.js';
import { Working } from '../working.js';
import { modelOf, text } from './common.js';

/** @typedef {import('./common.js').App} App */
/** @typedef {{source_tokens: string[], target_tokens: string[], source: number[][]}} Attribution */

const LONG = 'this big red rabbit finds my cow that follows my bird and this cat falls and the small cat laughs';

/** @param {number[]} row */
const shares = (row) => {
    const sum = row.reduce((total, value) => total + value, 0);
    return row.map((value) => (sum > 0 ? value / sum : 0));
};

/** The mean over the target words of each source word's share. @param {Attribution} seen */
export const shareByPosition = ({ source, source_tokens }) => {
    const rows = source.map(shares);
    return source_tokens.map((_, position) => mean(rows.map((row) => row[position] ?? 0)));
};

/** A page has one job at a time. @param {string[]} names @param {AbortSignal} signal */
async function attributions(names, signal) {
    /** @type {{name: string, seen: Attribution}[]} */
    const found = [];
    for (const model of names) {
        const { job } = await post(
            'attribution',
            { model, text: LONG, method: 'gradient-input-l2' },
            signal,
        );
        found.push({ name: model, seen: await finish(job, signal) });
    }
    return found;
}

/** @param {App} app @param {{close: () => void}[]} open */
export function reach(app, open) {
    const working = new Working();
    const place = h('div', {});
    const kinds = /** @type {const} */ (['fixed_vector', 'attention', 'transformer']);
    const names = kinds.flatMap((kind) => modelOf(app, kind)?.name ?? []);
    const show = async () => {
        const found = await working.run((signal) => attributions(names, signal));
        const chart = lineChart({
            title: 'Share of ‖gradient × input‖₂ that each source word has in the translation, by its place; the last is the end symbol',
            x: 'words since the start',
            y: 'mean share',
            ticks: found[0]?.seen.source_tokens.map((_, place) => String(place + 1)) ?? [],
            digits: 3,
            series: found.map(({ name, seen }) => ({
                name,
                points: shareByPosition(seen).map((value) => ({ value })),
            })),
        });
        open.push(chart, { close: () => working.cancel() });
        fill(place, chart.element);
    };
    return h(
        'section',
        { class: 'reach' },
        h('h3', {}, 'And in the models themselves'),
        text(
            '“',
            LONG,
            '”: how much does each word of it weigh in what is written? One vector keeps best what was read ',
            'last, and the demo’s reads backwards: watch the end of the sentence.',
        ),
        h(
            'p',
            { class: 'row' },
            button('Measure the gradients', show),
        ),
        working.element,
        place,
    );
}
