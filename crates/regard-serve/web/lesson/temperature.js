// 4. Temperature: from a hard choice to a blur, and what the translation makes of it.
import { ask } from '../api.js';
import { lineChart } from '../chart.js';
import { button, fill, h } from '../dom.js';
import { temperatureEdit } from '../interventions.js';
import { entropy, mean } from '../numbers.js';
import { PAIRS } from '../pairs.js';
import { SENTENCE } from '../state.js';
import { slider } from '../temperature.js';
import { Working } from '../working.js';
import { bleu } from './bleu.js';
import { look, missing, modelOf, picture, text } from './common.js';

/** @typedef {import('./common.js').App} App */

const TEMPERATURES = [0.2, 0.35, 0.6, 1, 1.7, 2.6, 4];

/**
 * BLEU of the ten sentences under a temperature.
 * @param {string} model
 * @param {number} heat
 * @param {AbortSignal} signal
 */
async function bleuAt(model, heat, signal) {
    const interventions = heat === 1 ? [] : [temperatureEdit(heat)];
    /** @type {[string, string][]} */
    const outputs = [];
    for (const [text, target] of PAIRS) {
        /** @type {import('../types.js').Translations} */
        const list = await ask('translate', { model, text, beam_size: 1, n_best: 1, interventions }, signal);
        outputs.push([list.translations[0]?.text ?? '', target]);
    }
    return bleu(outputs);
}

/**
 * A list a model, an entry a temperature.
 * @param {string[]} models
 * @param {AbortSignal} signal
 * @param {(text: string) => void} report
 * @returns {Promise<number[][]>}
 */
async function measureAll(models, signal, report) {
    /** @type {number[][]} */
    const scores = [];
    for (const model of models) {
        const own = [];
        for (const heat of TEMPERATURES) {
            report(`${model}, temperature ${heat} …`);
            own.push(await bleuAt(model, heat, signal));
        }
        scores.push(own);
    }
    return scores;
}

/** @param {App} app */
function open(app) {
    const working = new Working();
    const place = h('div', {}),
        plot = h('div', {}),
        said = h('p', { class: 'story', role: 'status' });
    const model = modelOf(app, 'attention') ?? modelOf(app, 'transformer');
    /** @type {{close: () => void}[]} */
    const open = [];
    /** @type {string[]} */
    const models = ['attention', 'transformer'].flatMap(
        (kind) => modelOf(app, /** @type {'attention' | 'transformer'} */ (kind))?.name ?? [],
    );
    /** @type {ReturnType<typeof picture>} */
    let shown = null;
    let temperature = 1;
    /** @type {import('../types.js').Look | undefined} */
    let seen;

    const draw = () => {
        shown?.close();
        shown = seen ? picture(seen, temperature) : null;
        if (!shown) return;
        fill(place, shown.element);
        const spread = mean(shown.grid.weights.map(entropy));
        fill(
            said,
            `At temperature ${temperature.toFixed(2)} a row’s entropy is ${spread.toFixed(2)} nat on average, `,
            `as spread out as an even choice among ${Math.exp(spread).toFixed(1)} words.`,
        );
    };
    const load = async () => {
        if (!model) return;
        seen = await working.run((signal) => look(model.name, SENTENCE, [], signal));
        draw();
    };
    const measure = async () => {
        /** @type {number[][]} */
        const scores = await working.run((signal, report) => measureAll(models, signal, report));
        const chart = lineChart({
            title: `BLEU of ${PAIRS.length} sentences, decoded again at each temperature`,
            x: 'temperature',
            y: 'BLEU',
            ticks: TEMPERATURES.map(String),
            series: models.map((name, k) => ({
                name,
                points: (scores[k] ?? []).map((value) => ({ value })),
            })),
            top: 100,
        });
        open.push(chart);
        const range = (/** @type {string} */ name, /** @type {number} */ k) => {
            const all = scores[k] ?? [];
            return [
                h('em', {}, name),
                ` scores ${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)}. `,
            ];
        };
        const note = 'Greedy search, one reference, tokens at spaces, no smoothing.';
        fill(
            plot,
            chart.element,
            h('p', { class: 'story' }, models.map(range)),
            h('p', { class: 'note' }, note),
        );
    };
    load();
    return {
        element: h(
            'div',
            {},
            text(
                'Divide the scores by a temperature before the softmax. At 0.2 every row is nearly a single ',
                'choice; at 4 it is a blur of the whole sentence, which is close to having one vector again. ',
                'Does the translation mind?',
            ),
            model ? null : missing(app, ['attention']),
            model ? slider(temperature, (value) => ((temperature = value), draw())).element : null,
            said,
            place,
            model
                ? h(
                      'p',
                      { class: 'row' },
                      button('Decode ten sentences at each temperature', () => measure(), { class: 'main' }),
                  )
                : null,
            working.element,
            plot,
        ),
        close: () => (working.cancel(), shown?.close(), open.forEach((one) => one.close())),
    };
}

/** @type {import('./common.js').Step} */
export const step = { title: 'Temperature', open };
