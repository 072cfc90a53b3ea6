// 5. The crossing of adjective and noun: guess where the next word looks, then see.
import { button, fill, h } from '../dom.js';
import { argmax } from '../numbers.js';
import { SENTENCE } from '../state.js';
import { Line } from '../sentence.js';
import { Links } from '../links.js';
import { matrixTable } from '../table.js';
import { gridOf } from '../look.js';
import { Working } from '../working.js';
import { isEnd } from '../words.js';
import { look, missing, modelOf, text } from './common.js';

/** @typedef {import('./common.js').App} App */

/** @param {App} app */
function open(app) {
    const working = new Working();
    const model = modelOf(app, 'attention') ?? modelOf(app, 'transformer');
    const said = h('p', { class: 'story', role: 'status' }),
        place = h('div', {});
    let at = 0,
        right = 0,
        tried = 0;
    /** @type {import('../types.js').Grid | null} */
    let grid = null;
    const quiet = () => {};
    const source = new Line('s', 'Source: choose the word that is read', {
        hover: quiet,
        pick: (_, index) => index !== null && guess(index),
    });
    const target = new Line('t', 'Translation', { hover: quiet, pick: quiet });
    const links = new Links({
        label: 'Attention',
        hover: quiet,
        pick: (side, index) => side === 's' && guess(index),
    });

    const count = () => (grid?.rows ?? []).filter((word) => word.text !== '⟨end⟩').length;
    const show = (/** @type {number | null} */ reveal) => {
        if (!grid) return;
        source.light(reveal === null ? null : (grid.weights[reveal] ?? null), null, null);
        target.light(null, at, at);
        links.highlight({ row: null, column: null, at: reveal ?? at - 1 });
    };
    const ask = () => {
        if (!grid) return;
        const done = at >= count();
        fill(
            said,
            done
                ? [
                      `You foresaw ${right} of ${tried} looks.`,
                      ' The lines that cross are the nouns and their adjectives.',
                  ]
                : [
                      'About to write ',
                      h('em', {}, grid.rows[at]?.text),
                      '. Which word will it read most? Choose it in the source.',
                  ],
        );
        show(null);
    };
    const guess = (/** @type {number} */ index) => {
        if (!grid || at >= count()) return;
        const most = argmax(grid.weights[at] ?? []);
        tried++;
        right += Number(index === most);
        fill(
            said,
            index === most ? 'Yes: ' : 'No: ',
            h('em', {}, grid.rows[at]?.text),
            ' reads ',
            h('em', {}, grid.columns[most]?.text),
            ` with ${(grid.weights[at]?.[most] ?? 0).toFixed(2)}. `,
            button(
                'Next word',
                () => {
                    at++;
                    ask();
                },
                { class: 'main' },
            ),
        );
        show(at);
    };
    const load = async () => {
        if (!model) return;
        const seen = await working.run((signal) => look(model.name, SENTENCE, [], signal));
        grid = gridOf(seen, { site: 'cross', layer: null, head: null, units: 'words' });
        if (!grid) return;
        source.show(grid.columns.filter((word) => !isEnd(word.text) && word.text !== '⟨end⟩'));
        target.show(grid.rows);
        links.show(grid);
        fill(place, links.element, matrixTable('Attention weights', grid));
        ask();
    };
    load();
    return {
        element: h(
            'div',
            { class: 'crossing' },
            text(
                'French puts ',
                h('em', {}, 'noir'),
                ' after ',
                h('em', {}, 'chat'),
                '. A decoder that had to read from left to right could not do that; one that looks where it ',
                'likes can. Foresee its looks.',
            ),
            model ? null : missing(app, ['attention']),
            working.element,
            source.element,
            target.element,
            said,
            place,
        ),
        close: () => (working.cancel(), links.close()),
    };
}

/** @type {import('./common.js').Step} */
export const step = { title: 'Adjective and noun cross', open };
