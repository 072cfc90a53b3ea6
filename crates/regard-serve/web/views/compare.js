// Compare: up to three models as columns on the same sentence, and their length curves below.
import { ask, get } from '../api.js';
import { lineChart } from '../chart.js';
import { fill, h, picker } from '../dom.js';
import { gridOf } from '../look.js';
import { Matrix } from '../matrix.js';
import { signed, total } from '../numbers.js';
import { Line, Source } from '../sentence.js';
import { matrixTable } from '../table.js';
import { Working } from '../working.js';
import { changes, group, isEnd } from '../words.js';
import { changedIn } from '../beside.js';

/** @typedef {import('../types.js').App} App */

const QUIET = { hover: () => {}, pick: () => {} };
const MOST = 3;

/** @type {Record<string, string>} */
export const KINDS = {
    fixed_vector: 'fixed vector',
    attention: 'recurrent, with attention',
    transformer: 'Transformer',
};

/**
 * The translation that the others agree with most, a later one where they agree alike: what differs from it is marked.
 * @param {string[][]} all
 */
function consensus(all) {
    const size = (/** @type {string[]} */ a, /** @type {string[]} */ b) =>
        total(changes(a, b).map((hunk) => hunk.before.length + hunk.after.length));
    const costs = all.map((one) => total(all.map((other) => size(one, other))));
    return all[costs.lastIndexOf(Math.min(...costs))] ?? [];
}

class Compare {
    /** @param {App} app */
    constructor(app) {
        this.app = app;
        this.working = new Working();
        /** What the page shows, or waits for. */
        this.asked = '';
        this.source = new Source(QUIET, (text, isFirst) =>
            app.set({ text, n: 0, at: null, pick: '', edits: [] }, isFirst ? 'push' : 'replace'),
        );
        this.columns = h('div', { class: 'columns' });
        this.curves = h('section', { class: 'curves' });
        /** @type {{close: () => void}[]} */
        this.open = [];
        this.element = h(
            'div',
            { class: 'view compare' },
            h('h1', { class: 'unseen' }, 'Compare'),
            h('section', { class: 'sentences' }, this.source.element, this.working.element),
            this.columns,
            this.curves,
        );
        this.update();
    }

    /** The columns: those of the address, or the first of the models that are served. */
    names() {
        const { models, state } = this.app;
        const known = state.models.filter((name) => models.some((model) => model.name === name));
        return known.length > 0 ? known : models.slice(0, MOST).map((model) => model.name);
    }

    update() {
        const { text, units } = this.app.state;
        const names = this.names();
        this.source.show(group(text === '' ? [] : text.split(' '), 'pieces'), text);
        const key = JSON.stringify([text, units, names]);
        if (text === '' || key === this.asked) return;
        this.asked = key;
        this.ask(text, names);
    }

    /** @param {string} text @param {string[]} names */
    async ask(text, names) {
        const got = await this.working.run((signal) =>
            Promise.all(
                names.map(async (model) => {
                    /** @type {import('../types.js').Translations} */
                    const list = await ask('translate', { model, text, beam_size: 5, n_best: 1 }, signal);
                    /** @type {import('../types.js').Look} */
                    const look = await ask('look', { model, text }, signal);
                    const curve = await get(`curve?model=${encodeURIComponent(model)}`, signal).catch(
                        (error) => ({ missing: error.message }),
                    );
                    return { model, list, look, curve };
                }),
            ),
        );
        for (const one of this.open) one.close();
        this.open = [];
        const words = got.map(({ look }) =>
            group(
                look.target_tokens.filter((token) => !isEnd(token)),
                'words',
            ).map((word) => word.text),
        );
        fill(
            this.columns,
            got.map((one, i) => this.column(one, i, words)),
        );
        this.showCurves(got);
    }

    /**
     * @param {{model: string, list: import('../types.js').Translations, look: import('../types.js').Look}} got
     * @param {number} i
     * @param {string[][]} words of every column: what differs from the first is marked
     */
    column({ model, list, look }, i, words) {
        const line = new Line('t', `Translation by ${model}`, QUIET);
        const own = words[i] ?? [];
        line.show(
            own.map((text, at) => ({ text, from: at, to: at + 1 })),
            { changed: changedIn(consensus(words), own) },
        );
        const about = this.app.models.find((one) => one.name === model);
        return h(
            'section',
            { class: 'column', 'data-model': model },
            this.chooser(model, i),
            h(
                'p',
                { class: 'note' },
                `${KINDS[about?.kind ?? ''] ?? ''}, ${Intl.NumberFormat('en').format(about?.parameters ?? 0)} parameters`,
            ),
            line.element,
            h(
                'p',
                { class: 'score-line' },
                'score ',
                h('span', { class: 'score' }, signed(list.translations[0]?.score)),
            ),
            this.picture(model, look),
        );
    }

    /** @param {string} model @param {import('../types.js').Look} look */
    picture(model, look) {
        const grid = gridOf(look, { site: 'cross', layer: null, head: null, units: this.app.state.units });
        if (!grid) return h('p', { class: 'nothing' }, 'This model has one vector and nothing to look at.');
        const matrix = new Matrix({
            label: `Attention of ${model}`,
            largest: 40,
            hover: (cell) => matrix.highlight({ row: cell?.row ?? null, column: null, at: null }),
        });
        this.open.push(matrix);
        matrix.show(grid);
        return h('figure', {}, matrix.element, matrixTable(`Attention of ${model}`, grid));
    }

    /** @param {string} model @param {number} i */
    chooser(model, i) {
        const names = this.names();
        const options = this.app.models.map(({ name }) => /** @type {[string, string]} */ ([name, name]));
        return picker(`model ${i + 1}`, options, model, (name) =>
            this.app.set({ models: names.map((one, k) => (k === i ? name : one)) }, 'push'),
        );
    }

    /** @param {{model: string, curve: any}[]} got */
    showCurves(got) {
        const known = got
            .filter(({ curve }) => buckets(curve).length > 0)
            .filter(({ model }, i, all) => all.findIndex((one) => one.model === model) === i);
        const missing = got
            .filter(({ curve }) => curve.missing)
            .map(({ model, curve }) => h('p', { class: 'note' }, h('b', {}, model), `: ${curve.missing}`));
        if (known.length === 0) return fill(this.curves, h('h2', {}, 'Quality by length'), missing);
        const chart = curveChart(known.map(({ model, curve }) => ({ name: model, curve })));
        this.open.push(chart);
        return fill(this.curves, h('h2', {}, 'Quality by length'), chart.element, missing);
    }

    close() {
        this.working.cancel();
        for (const one of this.open) one.close();
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        if (event.key !== 'e' && event.key !== 'E') return false;
        this.source.edit();
        return true;
    }
}

/** The buckets of a stored curve, whether it is alone or in a list. @param {any} curve @returns {import('../types.js').LengthBucket[]} */
export const buckets = (curve) => (Array.isArray(curve) ? curve[0] : curve)?.by_length ?? [];

/**
 * @param {{name: string, curve: any}[]} curves
 * @param {{pick?: (index: number) => void, picked?: number}} [options]
 */
export function curveChart(curves, options = {}) {
    const first = buckets(curves[0]?.curve);
    const used = first
        .map((_, i) => i)
        .filter((i) => curves.some(({ curve }) => (buckets(curve)[i]?.lines ?? 0) > 0));
    const tick = (/** @type {number} */ i) => {
        const { from, to } = /** @type {import('../types.js').LengthBucket} */ (first[i]);
        return to === null || to === undefined ? `${from}+` : from === to ? String(from) : `${from}–${to}`;
    };
    const series = curves.map(({ name, curve }) => ({
        name,
        points: used.map((i) => {
            const bucket = buckets(curve)[i];
            return { value: bucket?.score ?? null, low: bucket?.low ?? null, high: bucket?.high ?? null };
        }),
    }));
    return lineChart({
        title: 'BLEU by the number of words in the source, with 95 % intervals',
        x: 'words in the source',
        y: 'BLEU',
        ticks: used.map(tick),
        series,
        top: 100,
        ...options,
    });
}

/** @param {App} app @returns {import('../types.js').View} */
export const open = (app) => new Compare(app);
