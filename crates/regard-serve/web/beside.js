// The original and the edited run, beside each other: the words that changed are marked, a sentence says what happened, and a
// strip shows how far each belief moved.
import { fill, h } from './dom.js';
import { grid } from './look.js';
import { Matrix } from './matrix.js';
import { signed } from './numbers.js';
import { Line } from './sentence.js';
import { story } from './story.js';
import { showStrip } from './strip.js';
import { matrixTable } from './table.js';
import { changes, group, isEnd, written } from './words.js';

/** @typedef {import('./types.js').Look} Look */
/** @typedef {import('./types.js').Translation} Translation */

const QUIET = { hover: () => {}, pick: () => {} };

/** Positions in `after` that a change put there. @param {string[]} before @param {string[]} after */
export function changedIn(before, after) {
    return new Set(changes(before, after).flatMap((hunk) => hunk.after.map((_, k) => hunk.to + k)));
}

export class Beside {
    constructor() {
        this.line = new Line('t', 'Edited translation', QUIET);
        this.score = h('span', { class: 'score' });
        this.row = h(
            'div',
            { class: 'edited-line' },
            this.line.element,
            this.score,
            h('span', { class: 'tag' }, 'edited'),
        );
        this.story = h('p', { class: 'story', role: 'status', 'aria-live': 'polite' });
        this.matrix = new Matrix({ label: 'Attention of the edited run' });
        this.table = h('div', {});
        this.caption = h('figcaption', {}, 'The edited run');
        this.figure = h('figure', { class: 'edited-figure' }, this.caption, this.matrix.element, this.table);
        this.strip = h('section', { class: 'distances' });
    }

    /**
     * @param {Look} look the original
     * @param {{translation: Translation, source: string[], effect: import('./types.js').Effect | undefined}} edited
     * @param {{doing: string, rest: import('./dom.js').Child[]}[]} phrases
     * @param {'words' | 'pieces'} units
     */
    show(look, edited, phrases, units) {
        const tokens = written(edited.translation);
        const words = group(tokens, units);
        const before = group(look.target_tokens, units).map((word) => word.text),
            after = words.map((word) => word.text);
        this.line.show(words, { changed: changedIn(before, after) });
        this.score.textContent = signed(edited.translation.score);
        const plain = (/** @type {string[]} */ tokens) =>
            group(
                tokens.filter((token) => !isEnd(token)),
                'words',
            ).map((word) => word.text);
        fill(this.story, story(phrases, plain(look.target_tokens), plain(tokens), edited.effect?.steps));
        const { attention } = edited.translation;
        this.figure.hidden = !attention;
        if (attention) {
            const shown = grid(tokens, edited.source, attention, units);
            this.matrix.show(shown);
            fill(this.table, matrixTable('Attention of the edited run', shown));
        }
        if (edited.effect) showStrip(this.strip, edited.effect);
        else fill(this.strip);
    }

    close() {
        this.matrix.close();
    }
}
