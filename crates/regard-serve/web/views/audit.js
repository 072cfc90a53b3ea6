// Audit: is this model's attention load-bearing? The last audit's verdict, its table, and a run on a few lines.
import { get, post } from '../api.js';
import { button, fill, h, svg } from '../dom.js';
import { finish } from '../jobs.js';
import { PAIRS } from '../pairs.js';
import { table } from '../table.js';
import { Working } from '../working.js';

/** @typedef {import('../types.js').App} App */
/** @typedef {import('../types.js').Audit} Document */

class Audit {
    /** @param {App} app */
    constructor(app) {
        this.app = app;
        this.working = new Working();
        /** @type {AbortController | undefined} */
        this.running = undefined;
        /** What the page shows, or waits for. */
        this.shown = '';
        this.result = h('section', { class: 'result' });
        this.lines = h('textarea', { rows: 6, id: 'audit-lines', spellcheck: 'false' });
        this.lines.value = PAIRS.slice(0, 6)
            .map((pair) => pair.join('\t'))
            .join('\n');
        this.progress = h('div', { class: 'progress', role: 'status', 'aria-live': 'polite' });
        this.start = button('Run the audit', () => this.run(), { class: 'main' });
        this.element = h(
            'div',
            { class: 'view audit' },
            this.result,
            this.working.element,
            h(
                'section',
                { class: 'run' },
                h('h2', {}, 'Run it on a few lines'),
                h('label', { for: 'audit-lines' }, 'A line a pair: the source, a tab, its translation'),
                this.lines,
                h('p', { class: 'row' }, this.start),
                this.progress,
            ),
        );
        this.update();
    }

    update() {
        const { model } = this.app.state;
        if (model === this.shown) return;
        this.shown = model;
        this.load(model);
    }

    /** @param {string} model */
    async load(model) {
        const found = await this.working.run((signal) =>
            get(`audit?model=${encodeURIComponent(model)}`, signal).catch((error) => {
                if (error.status !== 404) throw error;
                return { missing: error.message };
            }),
        );
        if (found.missing)
            fill(
                this.result,
                h('h1', {}, `No audit of ${model} yet`),
                h('p', { class: 'hint' }, found.missing),
            );
        else this.show(found);
    }

    /** @param {Document} audit */
    show(audit) {
        const settings = Object.entries(audit.settings ?? {}).map(
            ([key, value]) => `${key}: ${typeof value === 'object' ? JSON.stringify(value) : value}`,
        );
        const number = (/** @type {number | null | undefined} */ value) =>
            typeof value === 'number' ? value.toFixed(3) : '–';
        const interval = (/** @type {import('../types.js').AuditTest} */ test) =>
            typeof test.low === 'number' && typeof test.high === 'number'
                ? `${number(test.low)} – ${number(test.high)}`
                : '–';
        const rows = audit.tests.map((test) => [
            test.name,
            test.site ?? '',
            number(test.value),
            interval(test),
            number(test.baseline),
            scale(test),
            h('span', { class: 'definition' }, test.definition),
        ]);
        fill(
            this.result,
            h('h1', {}, 'Is its attention load-bearing?'),
            h('p', { class: 'verdict' }, audit.verdict),
            h(
                'p',
                { class: 'note' },
                h('b', {}, audit.model),
                `: ${audit.sentences} sentences, ${audit.steps} steps`,
                settings.length > 0 ? `; ${settings.join('; ')}.` : '.',
            ),
            h(
                'div',
                { class: 'scroll' },
                table(
                    'The tests, with 95 % intervals; the hollow mark is the baseline, the stroke across is 0',
                    ['test', 'site', 'value', 'interval', 'baseline', '', 'what it is'],
                    rows,
                ),
            ),
            h('h3', {}, 'Limits'),
            h(
                'ul',
                { class: 'limits' },
                audit.limits.map((limit) => h('li', {}, limit)),
            ),
        );
    }

    async run() {
        const { model } = this.app.state;
        const pairs = this.lines.value
            .split('\n')
            .map((line) => line.split('\t'))
            .filter(([source, target]) => source?.trim() && target?.trim());
        if (pairs.length === 0)
            return fill(
                this.progress,
                h(
                    'p',
                    { class: 'error', role: 'alert' },
                    'There is no line with a source, a tab and a translation. Write at least one.',
                ),
            );
        this.start.disabled = true;
        try {
            const { job } = await post('audit', {
                model,
                sources: pairs.map(([source]) => source),
                targets: pairs.map(([, target]) => target),
            });
            await this.follow(job);
        } catch (error) {
            fill(
                this.progress,
                h(
                    'p',
                    { class: 'error', role: 'alert' },
                    error instanceof Error ? error.message : String(error),
                ),
            );
        }
        this.start.disabled = false;
        return undefined;
    }

    /** @param {number} number */
    async follow(number) {
        const running = (this.running = new AbortController());
        const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Progress of the audit' });
        const said = h('span', {}, 'starting …');
        fill(this.progress, bar, said, button('Cancel', () => running.abort(), { class: 'quiet' }));
        const report = (/** @type {number} */ done, /** @type {number} */ total) => {
            bar.max = Math.max(1, total);
            bar.value = done;
            said.textContent = `${done} of ${total}`;
        };
        try {
            const result = await finish(number, running.signal, report);
            fill(this.progress, h('p', {}, 'Done; the result is above.'));
            this.show(result);
        } catch (error) {
            if (!running.signal.aborted) throw error;
            fill(this.progress, h('p', {}, 'Cancelled.'));
        }
    }

    close() {
        this.running?.abort();
        this.working.cancel();
    }
}

/**
 * A value with its interval and its baseline on a line: from 0 to 1, to 100 for scores such as BLEU, and from the other side
 * of 0 where something is negative, as a correlation may be.
 * @param {import('../types.js').AuditTest} test
 */
function scale({ value, low, high, baseline }) {
    const known = [value, low, high, baseline].filter((one) => typeof one === 'number');
    const unit = Math.max(...known.map(Math.abs)) > 1 ? 100 : 1;
    const from = Math.min(0, ...known) < 0 ? -unit : 0;
    const x = (/** @type {number} */ at) => 6 + Math.max(0, Math.min(1, (at - from) / (unit - from))) * 128;
    const dot = (/** @type {string} */ kind, /** @type {number | null | undefined} */ at) =>
        typeof at === 'number' && svg('circle', { class: kind, cx: x(at), cy: 9, r: 4.2 });
    const interval = typeof low === 'number' && typeof high === 'number' ? { x1: x(low), x2: x(high) } : null;
    return svg(
        'svg',
        { width: 140, height: 18, class: 'scale', 'aria-hidden': 'true' },
        svg('line', { x1: x(from), x2: x(unit), y1: 9, y2: 9 }),
        svg('line', { x1: x(0), x2: x(0), y1: 4, y2: 14 }),
        interval && svg('line', { class: 'interval', ...interval, y1: 9, y2: 9 }),
        dot('baseline', baseline),
        dot('dot', value),
    );
}

/** @param {App} app @returns {import('../types.js').View} */
export const open = (app) => new Audit(app);
