// 8. A heatmap is a hint: take the brightest cell away at each word, and see whether the word changes.
import { button, fill, h } from '../dom.js';
import { gridOf } from '../look.js';
import { argmax, mean, random } from '../numbers.js';
import { SENTENCE } from '../state.js';
import { table } from '../table.js';
import { Working } from '../working.js';
import { look, missing, modelOf, text, wordsOf } from './common.js';

/** @typedef {import('./common.js').App} App */
/** @typedef {{word: string, read: string, tvd: number, became: string, other: string, otherTvd: number, otherBecame: string}} Row */

const SEED = 7;

/**
 * What is written at `step` under an intervention, and how far the belief moved there.
 * @param {import('../types.js').Look} seen @param {number} step
 */
const effect = (seen, step) => ({
    tvd: seen.intervention?.steps[step]?.tvd ?? 0,
    became: seen.intervention?.target_tokens[step] ?? '',
});

/** @param {App} app */
function open(app) {
    const working = new Working();
    const place = h('div', {}),
        said = h('p', { class: 'story', role: 'status' });
    const model = modelOf(app, 'attention') ?? modelOf(app, 'transformer');

    const measure = (/** @type {AbortSignal} */ signal, /** @type {(text: string) => void} */ report) => {
        const next = random(SEED);
        const one = async (
            /** @type {import('../types.js').Look} */ seen,
            /** @type {import('../types.js').Grid} */ grid,
            /** @type {number} */ i,
        ) => {
            const weights = grid.weights[i] ?? [];
            const most = argmax(weights);
            const other = (most + 1 + Math.floor(next() * (weights.length - 1))) % weights.length;
            const without = async (/** @type {number} */ j) =>
                effect(await look(model?.name ?? '', SENTENCE, [`remove:src=${j}@step=${i}`], signal), i);
            const [bright, random] = [await without(most), await without(other)];
            return {
                word: seen.target_tokens[i] ?? '',
                read: grid.columns[most]?.text ?? '',
                ...bright,
                other: grid.columns[other]?.text ?? '',
                otherTvd: random.tvd,
                otherBecame: random.became,
            };
        };
        return (async () => {
            const seen = await look(model?.name ?? '', SENTENCE, [], signal);
            const grid = gridOf(seen, { site: 'cross', layer: null, head: null, units: 'pieces' });
            const rows = [];
            const count = wordsOf(seen.target_tokens).length;
            for (let i = 0; grid && i < count; i++) {
                report(`word ${i + 1} of ${count} …`);
                rows.push(await one(seen, grid, i));
            }
            return rows;
        })();
    };
    const run = async () => {
        const rows = await working.run(measure);
        if (rows.length === 0) return;
        const became = (/** @type {string} */ word, /** @type {string} */ now) =>
            word === now ? '–' : h('mark', {}, now);
        const changed = rows.filter((row) => row.became !== row.word).length,
            others = rows.filter((row) => row.otherBecame !== row.word).length;
        fill(
            said,
            `Without its brightest cell the word changed in ${changed} of ${rows.length} places; without `,
            `another one, chosen at random, in ${others}. Belief moved by `,
            `${mean(rows.map((row) => row.tvd)).toFixed(2)} and by `,
            `${mean(rows.map((row) => row.otherTvd)).toFixed(2)} on average.`,
        );
        const cells = rows.map((row) => [
            row.word,
            row.read,
            row.tvd.toFixed(2),
            became(row.word, row.became),
            row.other,
            row.otherTvd.toFixed(2),
            became(row.word, row.otherBecame),
        ]);
        fill(
            place,
            h(
                'div',
                { class: 'scroll' },
                table(
                    'Each word with one cell of its row removed',
                    ['word', 'brightest', 'distance', 'became', 'at random', 'distance', 'became'],
                    cells,
                ),
            ),
        );
    };
    return {
        element: h(
            'div',
            {},
            text(
                'Bright cells look like reasons. But weights can move without the output moving, and a model ',
                'may know a word from elsewhere, such as from the words that it has just written. Only an ',
                'intervention shows it. Take each word’s brightest cell away, and, to be fair, a random one ',
                'too.',
            ),
            model
                ? h(
                      'p',
                      { class: 'row' },
                      button('Take them away, one by one', () => run(), { class: 'main' }),
                  )
                : missing(app, ['attention']),
            working.element,
            said,
            place,
            text(
                'To measure it over many sentences, with intervals and baselines, is what ',
                h('a', { href: '?view=audit' }, 'Audit'),
                ' does.',
            ),
        ),
        close: () => working.cancel(),
    };
}

/** @type {import('./common.js').Step} */
export const step = { title: 'A heatmap is a hint', open };
