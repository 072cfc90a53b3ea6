// 2. Why long sentences fall apart: the length curves that were measured on held-out sentences.
import { get } from '../api.js';
import { fill, h } from '../dom.js';
import { buckets, curveChart } from '../views/compare.js';
import { Working } from '../working.js';
import { missing, text } from './common.js';

/** @typedef {import('./common.js').App} App */

/** @param {App} app */
function open(app) {
    const working = new Working();
    const place = h('div', {}),
        said = h('p', { class: 'story', role: 'status' }),
        absent = h('div', {});
    // The slider stays the same element while it is dragged; what it moves is drawn anew.
    const input = h('input', {
        type: 'range',
        min: 0,
        max: 0,
        value: 0,
        'aria-label': 'Length',
        oninput: () => show(Number(input.value)),
    });
    const slider = h('label', { class: 'slider', hidden: true }, h('span', {}, 'length'), input);
    /** @type {{close: () => void} | null} */
    let chart = null;
    /** @type {{name: string, curve?: any, missing?: string}[]} */
    let curves = [];

    const say = (/** @type {number} */ picked) => {
        const known = curves.filter(({ curve }) => curve);
        const scores = known
            .map(({ name, curve }) => ({ name, score: buckets(curve)[picked]?.score ?? null }))
            .filter((one) => one.score !== null)
            .sort((a, b) => Number(b.score) - Number(a.score));
        const bucket = buckets(known[0]?.curve)[picked];
        const [best, worst] = [scores[0], scores.at(-1)];
        if (!bucket || !best || !worst) return '';
        const gap =
            scores.length > 1
                ? ` — ${(Number(best.score) - Number(worst.score)).toFixed(1)} points between them`
                : '';
        return [
            `From ${bucket.from} words on: `,
            scores.map(({ name, score }, i) => [
                i > 0 ? ', ' : '',
                h('em', {}, name),
                ` ${Number(score).toFixed(1)}`,
            ]),
            `${gap}.`,
        ];
    };
    const show = (/** @type {number} */ picked) => {
        const known = curves.filter(({ curve }) => curve).map(({ name, curve }) => ({ name, curve }));
        chart?.close();
        chart = null;
        input.value = String(picked);
        if (known.length === 0)
            return fill(
                place,
                h('p', { class: 'missing' }, 'No model that is served has a stored length curve.'),
            );
        const made = curveChart(known, { picked, pick: show });
        chart = made;
        fill(place, made.element);
        return fill(said, say(picked));
    };
    const load = async () => {
        const got = await working.run((signal) =>
            Promise.all(
                app.models.map(async ({ name }) => {
                    const curve = await get(`curve?model=${encodeURIComponent(name)}`, signal).catch(
                        (error) => ({ missing: error.message }),
                    );
                    return curve.missing ? { name, missing: curve.missing } : { name, curve };
                }),
            ),
        );
        curves = got;
        const last = Math.max(0, ...curves.map(({ curve }) => buckets(curve).length - 1));
        input.max = String(last);
        slider.hidden = last === 0;
        fill(
            absent,
            curves
                .filter((one) => one.missing)
                .map((one) => h('p', { class: 'note' }, h('b', {}, one.name), `: ${one.missing}`)),
        );
        show(0);
    };
    load();
    return {
        element: h(
            'div',
            {},
            text(
                'A vector that must hold everything holds less of each part the more there is. Move along the ',
                'lengths: where do the curves part?',
            ),
            missing(app, ['fixed_vector', 'attention']),
            working.element,
            slider,
            said,
            place,
            absent,
        ),
        close: () => (working.cancel(), chart?.close()),
    };
}

/** @type {import('./common.js').Step} */
export const step = { title: 'Why long sentences fall apart', open };
