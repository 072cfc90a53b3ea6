// The lesson: eight short steps with something to do in each.
import { button, fill, h } from '../dom.js';
import { step as agreement } from '../lesson/agreement.js';
import { step as crossing } from '../lesson/crossing.js';
import { step as hint } from '../lesson/hint.js';
import { step as longSentences } from '../lesson/long_sentences.js';
import { step as lookup } from '../lesson/lookup.js';
import { step as oneVector } from '../lesson/one_vector.js';
import { step as selfAttention } from '../lesson/self_attention.js';
import { step as temperature } from '../lesson/temperature.js';

/** @typedef {import('../types.js').App} App */

const STEPS = [oneVector, longSentences, lookup, temperature, crossing, agreement, selfAttention, hint];

class Lesson {
    /** @param {App} app */
    constructor(app) {
        this.app = app;
        this.shown = 0;
        this.list = h('ol', { class: 'contents' });
        this.body = h('article', {});
        this.element = h(
            'div',
            { class: 'view lesson' },
            h('nav', { 'aria-label': 'Steps of the lesson' }, this.list),
            this.body,
        );
        this.update();
    }

    update() {
        const { lesson } = this.app.state;
        if (lesson === this.shown) return;
        this.shown = lesson;
        this.activity?.close?.();
        const step = /** @type {import('../lesson/common.js').Step} */ (STEPS[lesson - 1]);
        this.activity = step.open(this.app);
        fill(
            this.list,
            STEPS.map(({ title }, i) =>
                h(
                    'li',
                    {},
                    button(title, () => this.go(i + 1), { 'aria-current': i + 1 === lesson ? 'step' : null }),
                ),
            ),
        );
        fill(
            this.body,
            h('p', { class: 'number' }, `Step ${lesson} of ${STEPS.length}`),
            h('h1', {}, step.title),
            this.activity.element,
            h(
                'p',
                { class: 'row foot' },
                button('◀ Back', () => this.go(lesson - 1), { disabled: lesson === 1 }),
                button('Next step ▶', () => this.go(lesson + 1), {
                    disabled: lesson === STEPS.length,
                    class: 'main',
                }),
            ),
        );
    }

    /** @param {number} lesson */
    go(lesson) {
        if (lesson < 1 || lesson > STEPS.length) return;
        this.app.set({ lesson }, 'push');
        this.body.scrollIntoView({ block: 'nearest' });
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        if (event.key === 'ArrowRight') this.go(this.shown + 1);
        else if (event.key === 'ArrowLeft') this.go(this.shown - 1);
        else return false;
        return true;
    }

    close() {
        this.activity?.close?.();
    }
}

/** @param {App} app @returns {import('../types.js').View} */
export const open = (app) => new Lesson(app);
