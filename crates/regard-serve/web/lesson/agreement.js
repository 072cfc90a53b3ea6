// 6. "la" needs to know "chaise": the article is written before the noun that it must agree with.
import { button, fill, h } from '../dom.js';
import { gridOf } from '../look.js';
import { bars } from '../reading.js';
import { SENTENCE } from '../state.js';
import { story } from '../story.js';
import { showStrip } from '../strip.js';
import { Working } from '../working.js';
import { look, missing, modelOf, text, wordsOf } from './common.js';

/** @typedef {import('./common.js').App} App */

/** The same sentence with a masculine noun in the place of the feminine one. */
const PAIR = 'the black cat sleeps on the red bed';
const NOUN = 7;

/** @param {App} app */
function open(app) {
    const working = new Working();
    const model = modelOf(app, 'attention') ?? modelOf(app, 'transformer');
    const row = h('div', {}),
        said = h('p', { class: 'story', role: 'status' }),
        strip = h('div', {}),
        buttons = h('p', { class: 'row' });

    const article = (/** @type {import('../types.js').Look} */ seen) =>
        Math.max(0, seen.target_tokens.indexOf('chaise') - 1);
    const run = async (
        /** @type {string} */ spec,
        /** @type {{doing: string, rest: import('../dom.js').Child[]}} */ phrase,
    ) => {
        const seen = await working.run((signal) => look(model?.name ?? '', SENTENCE, [spec], signal));
        if (!seen.intervention) return;
        fill(
            said,
            story(
                [phrase],
                wordsOf(seen.target_tokens).map((word) => word.text),
                wordsOf(seen.intervention.target_tokens).map((word) => word.text),
                seen.intervention.steps,
            ),
        );
        showStrip(strip, seen.intervention);
    };
    const chair = () => h('em', {}, 'chair');
    const load = async () => {
        if (!model) return;
        const seen = await working.run((signal) => look(model.name, SENTENCE, [], signal));
        const grid = gridOf(seen, { site: 'cross', layer: null, head: null, units: 'words' });
        if (!grid) return;
        const at = article(seen);
        const weights = grid.weights[at] ?? [];
        fill(
            row,
            h('h3', {}, h('em', {}, grid.rows[at]?.text), ' reads'),
            bars(
                weights,
                grid.columns.map((word) => word.text),
            ),
            h(
                'p',
                { class: 'note', 'data-noun': weights[NOUN] },
                `${(weights[NOUN] ?? 0).toFixed(2)} of it goes to `,
                chair(),
                '.',
            ),
        );
        const named = grid.rows[at]?.text ?? '';
        fill(
            buttons,
            button(`Remove “chair” where “${named}” is written`, () =>
                run(`remove:src=${NOUN}@step=${at}`, {
                    doing: 'Removing',
                    rest: [' ', chair(), ' where ', h('em', {}, named), ' is written'],
                }),
            ),
            button('Remove “chair” everywhere', () =>
                run(`remove:src=${NOUN}@step=all`, { doing: 'Removing', rest: [' ', chair()] }),
            ),
            button('Put the state of “bed” there', () =>
                run(`state:src=${NOUN},from=${NOUN},text=${PAIR}@step=all`, {
                    doing: 'Putting',
                    rest: [' the state of ', h('em', {}, 'bed'), ' in the place of ', chair()],
                }),
            ),
        );
    };
    load();
    return {
        element: h(
            'div',
            {},
            text(
                h('em', {}, 'Chaise'),
                ' is feminine and ',
                h('em', {}, 'lit'),
                ', a bed, is masculine. So before it writes ',
                h('em', {}, 'la'),
                ' or ',
                h('em', {}, 'le'),
                ' the model must know a noun that it has not written yet. Does it read it? And if that look ',
                'is taken away, does the article flip?',
            ),
            model ? null : missing(app, ['attention']),
            row,
            buttons,
            working.element,
            said,
            strip,
        ),
        close: () => working.cancel(),
    };
}

/** @type {import('./common.js').Step} */
export const step = { title: '“la” needs to know “chaise”', open };
