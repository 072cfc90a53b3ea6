// Work that the reader may have to wait for: only the latest counts, it shows itself after 200 ms, and it can be cancelled.
import { button, fill, h } from './dom.js';

const PATIENCE = 200;

/**
 * Something that may take a while: it heeds the signal, and may say how far it is.
 * @template T
 * @typedef {(signal: AbortSignal, report: (text: string) => void) => Promise<T>} Work
 */

export class Working {
    constructor() {
        /** @type {AbortController | null} */
        this.controller = null;
        this.element = h('div', { class: 'working', role: 'status', 'aria-live': 'polite' });
    }

    /**
     * Runs `work`, cancelling what ran before. What fails or is cancelled is shown here with a way to ask again; the promise is
     * kept when that succeeds.
     * @template T
     * @param {Work<T>} work
     * @returns {Promise<T>}
     */
    run(work) {
        return new Promise((resolve) => void this.attempt(work, resolve));
    }

    /**
     * @template T
     * @param {Work<T>} work
     * @param {(result: T) => void} resolve
     */
    async attempt(work, resolve) {
        this.cancel();
        const controller = (this.controller = new AbortController());
        const again = () => void this.attempt(work, resolve);
        const isCurrent = () => this.controller === controller;
        let text = 'working…';
        const show = () =>
            fill(
                this.element,
                h('span', { class: 'pulse' }),
                h('span', {}, text),
                button('Cancel', () => this.stop(again), { class: 'quiet' }),
            );
        const report = (/** @type {string} */ said) => {
            text = said;
            if (isCurrent()) show();
        };
        const timer = setTimeout(show, PATIENCE);
        try {
            const result = await work(controller.signal, report);
            if (!isCurrent()) return;
            fill(this.element);
            resolve(result);
        } catch (error) {
            if (isCurrent()) this.fail(error, again);
        } finally {
            clearTimeout(timer);
        }
    }

    /** @param {unknown} error @param {() => void} again */
    fail(error, again) {
        const message = error instanceof Error ? error.message : String(error);
        fill(
            this.element,
            h(
                'p',
                { class: 'error', role: 'alert' },
                message,
                ' ',
                button('Try again', again, { class: 'quiet' }),
            ),
        );
    }

    /** At the reader's wish. @param {() => void} again */
    stop(again) {
        this.cancel();
        fill(this.element, h('span', {}, 'Cancelled.'), button('Ask again', again, { class: 'quiet' }));
    }

    cancel() {
        this.controller?.abort();
        this.controller = null;
        fill(this.element);
    }
}
