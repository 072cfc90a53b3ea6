// The two lines in the middle of it all: the source, edited in place, and the translation, its words lit by weight.
import { css, isDark, ramp, textOn } from './colour.js';
import { button, fill, h } from './dom.js';
import { direction } from './words.js';

/** @typedef {import('./types.js').Word} Word */
/** @typedef {(side: 's' | 't', index: number | null) => void} Heard */

const PAUSE = 250;
const FAINTEST = 0.04;

/** A line of words that can be hovered, focused and picked. */
export class Line {
    /** @param {'s' | 't'} side @param {string} name @param {{hover: Heard, pick: Heard}} heard */
    constructor(side, name, heard) {
        this.side = side;
        this.heard = heard;
        this.element = h('p', { class: 'line', role: 'group', 'aria-label': name });
        /** @type {HTMLElement[]} */
        this.words = [];
    }

    /**
     * @param {Word[]} words
     * @param {{changed?: Set<number>, unknown?: number[]}} [marks] words that changed; tokens that the model does not know
     */
    show(words, { changed = new Set(), unknown = [] } = {}) {
        const { side, heard } = this;
        this.words = words.map((word, i) => {
            const over = () => heard.hover(side, i),
                out = () => heard.hover(side, null);
            const isUnknown = unknown.some((token) => token >= word.from && token < word.to);
            const classes = [
                'word',
                word.text === '⟨end⟩' ? 'end' : '',
                changed.has(i) ? 'changed' : '',
                isUnknown ? 'unknown' : '',
            ];
            return button(word.text, () => heard.pick(side, i), {
                class: classes.join(' ').trim(),
                'data-index': i,
                onpointerenter: over,
                onpointerleave: out,
                onfocus: over,
                onblur: out,
                'aria-description': isUnknown ? 'unknown to the model' : null,
            });
        });
        this.element.dir = direction(words.map((word) => word.text).join(' '));
        fill(
            this.element,
            this.words.map((word, i) => [i === 0 ? '' : ' ', word]),
        );
    }

    /**
     * @param {number[] | null} weights tints by weight
     * @param {number | null} own the word that is asked about
     * @param {number | null} at words after this one are not written yet
     */
    light(weights, own, at) {
        const dark = isDark();
        this.words.forEach((word, i) => {
            const weight = weights?.[i] ?? 0;
            const tint = weight > FAINTEST ? ramp(weight, dark) : null;
            word.style.backgroundColor = tint ? css(tint) : '';
            word.style.color = tint ? textOn(tint) : '';
            word.classList.toggle('own', i === own);
            word.classList.toggle('later', at !== null && i > at);
            word.classList.toggle('dim', weights !== null && tint === null && i !== own);
            word.setAttribute('aria-pressed', String(i === own));
            if (tint) word.title = weight.toFixed(3);
            else word.removeAttribute('title');
        });
    }
}

/** The source line and the field that takes its place while it is edited. */
export class Source {
    /** @param {{hover: Heard, pick: Heard}} heard @param {(text: string, isFirst: boolean) => void} changed */
    constructor(heard, changed) {
        this.line = new Line('s', 'Source', heard);
        this.changed = changed;
        /** What was said last. */
        this.text = '';
        this.field = h('textarea', {
            rows: 1,
            'aria-label': 'Sentence to translate',
            spellcheck: 'false',
            autocapitalize: 'off',
            maxlength: 2000,
            placeholder: 'Type a sentence',
        });
        this.pen = button('✎', () => this.toggle(), {
            class: 'pen quiet',
            'aria-label': 'Edit the sentence (E)',
            title: 'Edit the sentence (E)',
        });
        this.element = h('div', { class: 'source' }, this.line.element, this.field, this.pen);
        this.field.hidden = true;
        /** Whether nothing was changed yet since the field was opened: Back leads to what stood before. */
        this.isFirst = true;
        this.listen();
    }

    listen() {
        this.field.addEventListener('input', () => {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.send(), PAUSE);
            this.grow();
        });
        this.field.addEventListener('blur', () => this.finish());
        this.field.addEventListener('keydown', (event) => {
            if (event.key !== 'Enter' && event.key !== 'Escape') return;
            event.preventDefault();
            this.finish();
            this.pen.focus();
        });
        this.line.element.addEventListener('dblclick', () => this.edit());
        // The field loses its focus before the click on the pen arrives; without this the click would open it again.
        this.pen.addEventListener('pointerdown', (event) => !this.field.hidden && event.preventDefault());
    }

    /** @param {Word[]} words @param {string} text @param {number[]} [unknown] */
    show(words, text, unknown = []) {
        this.text = text;
        this.line.show(words, { unknown });
        if (this.field.hidden) this.field.value = text;
        this.line.element.hidden = !this.field.hidden;
        if (words.length === 0 && this.field.hidden) this.open();
    }

    toggle() {
        if (this.field.hidden) this.edit();
        else this.finish();
    }

    edit() {
        this.open();
        this.field.focus();
        this.field.select();
    }

    open() {
        this.isFirst = true;
        this.field.hidden = false;
        this.field.dir = 'auto';
        this.line.element.hidden = true;
        this.grow();
    }

    grow() {
        this.field.style.height = 'auto';
        this.field.style.height = `${this.field.scrollHeight}px`;
    }

    send() {
        clearTimeout(this.timer);
        const text = this.field.value.replace(/\s+/gu, ' ').trim();
        if (text === this.text) return;
        this.text = text;
        this.changed(text, this.isFirst);
        this.isFirst = false;
    }

    finish() {
        if (this.field.hidden) return;
        this.send();
        if (this.field.value.trim() === '') return;
        this.field.hidden = true;
        this.line.element.hidden = false;
    }
}
