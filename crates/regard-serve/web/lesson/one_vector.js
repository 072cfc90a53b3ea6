// 1. One vector for the whole sentence: let the sentence grow and count the words that come out right.
import { ask } from '../api.js';
import { lineChart } from '../chart.js';
import { button, fill, h } from '../dom.js';
import { Working } from '../working.js';
import { changes } from '../words.js';
import { missing, modelOf, text, wordsOf } from './common.js';

/** @typedef {import('./common.js').App} App */

/** Clauses of the demo's grammar, each with its one right translation. @type {[string, string][]} */
const CLAUSES = [
    ['the black cat sleeps', 'le chat noir dort'],
    ['on the red chair', 'sur la chaise rouge'],
    ['and my small dog sings', 'et mon petit chien chante'],
    ['in the green garden', 'dans le jardin vert'],
    ['and a white cow falls', 'et une vache blanche tombe'],
    ['behind the big house', 'derrière la grande maison'],
];
const KINDS = /** @type {const} */ (['fixed_vector', 'attention']);

/** @param {number} clauses */
const pair = (clauses) =>
    [0, 1].map((side) =>
        CLAUSES.slice(0, clauses)
            .map((clause) => clause[side])
            .join(' '),
    );

/** The words of `right` that are in `given`, in order. @param {string[]} right @param {string[]} given */
const correct = (right, given) =>
    right.length - changes(right, given).reduce((sum, hunk) => sum + hunk.before.length, 0);

/** @param {App} app */
function open(app) {
    const working = new Working();
    const place = h('div', {}),
        plot = h('div', {});
    let clauses = 2;
    /** @type {{close: () => void} | null} */
    let chart = null;
    const models = KINDS.flatMap((kind) => modelOf(app, kind) ?? []);

    const translated = async (/** @type {number} */ count, /** @type {AbortSignal} */ signal) => {
        const [source = '', target = ''] = pair(count);
        const right = target.split(' ');
        const rows = models.map(async (model) => {
            /** @type {import('../types.js').Translations} */
            const list = await ask(
                'translate',
                { model: model.name, text: source, beam_size: 5, n_best: 1 },
                signal,
            );
            const given = wordsOf(list.translations[0]?.tokens ?? []).map((word) => word.text);
            return { name: model.name, given, score: correct(right, given) };
        });
        return { source, right, rows: await Promise.all(rows) };
    };
    const row = (
        /** @type {string[]} */ right,
        /** @type {{name: string, given: string[], score: number}} */ { name, given, score },
    ) => {
        const wrong = new Set(changes(right, given).flatMap((hunk) => hunk.after.map((_, k) => hunk.to + k)));
        return [
            h('dt', {}, name),
            h(
                'dd',
                {},
                given.map((word, i) => [wrong.has(i) ? h('mark', {}, word) : word, ' ']),
                h('b', { 'data-right': score }, `${score} of ${right.length} right`),
            ),
        ];
    };
    const show = async () => {
        const got = await working.run((signal) => translated(clauses, signal));
        fill(
            place,
            h('p', { class: 'line' }, got.source),
            h(
                'dl',
                { class: 'answers' },
                h('dt', {}, 'right'),
                h('dd', {}, got.right.join(' ')),
                got.rows.map((one) => row(got.right, one)),
            ),
        );
    };
    const grow = (/** @type {number} */ by) => {
        clauses = Math.max(1, Math.min(CLAUSES.length, clauses + by));
        show();
    };
    const measure = async () => {
        const all = await working.run(async (signal) => {
            const results = [];
            for (let count = 1; count <= CLAUSES.length; count++)
                results.push(await translated(count, signal));
            return results;
        });
        chart?.close();
        const series = models.map(({ name }, k) => ({
            name,
            points: all.map(({ right, rows }) => ({ value: (100 * (rows[k]?.score ?? 0)) / right.length })),
        }));
        chart = lineChart({
            title: 'Words that come out right, in these sentences',
            x: 'words in the source',
            y: 'per cent',
            ticks: all.map(({ source }) => String(source.split(' ').length)),
            series,
            top: 100,
            digits: 0,
        });
        fill(plot, /** @type {any} */ (chart).element);
    };
    show();
    return {
        element: h(
            'div',
            {},
            text(
                'The first encoder-decoders squeezed a sentence into one vector, of the same size for four ',
                'words and for forty: an interpreter who hears the whole speech and may never look back. Make ',
                'the sentence longer and see what is forgotten.',
            ),
            missing(app, [...KINDS]),
            h(
                'p',
                { class: 'row' },
                button('Shorter', () => grow(-1)),
                button('Longer', () => grow(1), { class: 'main' }),
                button('Measure every length', () => measure()),
            ),
            working.element,
            place,
            plot,
        ),
        close: () => (working.cancel(), chart?.close()),
    };
}

/** @type {import('./common.js').Step} */
export const step = { title: 'One vector for the whole sentence', open };
