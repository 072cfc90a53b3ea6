// Translate: the sentence, its n-best list, and every way of looking at where the model looked.
import { Beside } from '../beside.js';
import { choice, fill, h } from '../dom.js';
import { describe, prefixEdit, request, temperatureEdit } from '../interventions.js';
import { multiples } from '../multiples.js';
import { nbest } from '../nbest.js';
import { showReading } from '../reading.js';
import { edited, original, tree } from '../runs.js';
import { Scene } from '../scene.js';
import { saveButtons, sitePickers } from '../sites.js';
import { temperatureControls } from '../temperature.js';
import { onTheme } from '../theme.js';
import { Tree, showCandidates } from '../tree.js';
import { Working } from '../working.js';
import { group, hasPieces } from '../words.js';

/** @typedef {import('../types.js').App} App */

const FIGURES = /** @type {[string, string][]} */ ([
    ['matrix', 'Matrix'],
    ['links', 'Links'],
    ['heads', 'Layers and heads'],
    ['tree', 'Beam tree'],
]);

class Translate {
    /** @param {App} app */
    constructor(app) {
        this.app = app;
        this.working = new Working();
        /** What the page shows, or waits for. */
        this.asked = '';
        this.beside = new Beside();
        this.scene = new Scene(app, { lit: (light, grid) => this.lit(light, grid) });
        this.tree = new Tree({
            choose: (node) =>
                showCandidates(this.reading, this.tree.nodes, node, (prefix) => this.goOn(prefix)),
        });
        this.best = h('div', { class: 'scores' });
        this.figure = h('div', { class: 'figure' });
        this.reading = h('div', { class: 'reading', 'aria-live': 'polite' });
        this.tools = h('div', { class: 'tools' });
        this.heat = temperatureControls(app);
        this.sites = h('div', {});
        this.files = h('div', { class: 'files' });
        this.again = h('section', { class: 'again' });
        this.element = h(
            'div',
            { class: 'view translate' },
            h('h1', { class: 'unseen' }, 'Translate'),
            h(
                'section',
                { class: 'sentences' },
                this.scene.source.element,
                h('div', { class: 'target' }, this.scene.target.element, this.best),
                this.again,
                this.working.element,
            ),
            h(
                'div',
                { class: 'desk' },
                h(
                    'section',
                    { class: 'stage', 'aria-label': 'Picture' },
                    this.tools,
                    this.figure,
                    this.beside.strip,
                ),
                h(
                    'aside',
                    { class: 'panel', 'aria-label': 'Reading' },
                    this.reading,
                    h('div', { class: 'controls' }, this.heat.element, this.sites),
                    this.files,
                ),
            ),
        );
        this.stop = onTheme(() => this.draw());
        this.update();
    }

    /** @param {import('../matrix.js').Light} light @param {import('../types.js').Grid} grid */
    lit(light, grid) {
        this.beside.matrix.highlight(light);
        // Beside the tree stand the candidates of a node.
        if (this.app.state.figure !== 'tree') showReading(this.reading, grid, light);
    }

    /** Asks what is not known yet, then draws. */
    update() {
        const { model, text, n, mode, temperature, figure } = this.app.state;
        const heat = mode === 'decode' && this.app.model()?.attention ? temperature : 1;
        const key = JSON.stringify([model, text, n, heat, figure === 'tree']);
        if (text === '') return this.empty();
        if (key === this.asked) return this.draw();
        this.asked = key;
        return void this.ask(heat);
    }

    /** @param {number} heat */
    async ask(heat) {
        const { model, text, n, figure } = this.app.state;
        const got = await this.working.run(async (signal) => {
            const seen = await original({ model, text, n }, signal);
            const interventions = [temperatureEdit(heat)];
            const hot =
                heat === 1 ? null : await edited({ model, text }, seen.target, { interventions }, signal);
            return {
                ...seen,
                hot,
                heat,
                nodes: figure === 'tree' ? await tree({ model, text }, signal) : null,
            };
        });
        this.got = got;
        if (got.nodes) this.tree.show(got.nodes);
        this.draw();
    }

    empty() {
        this.asked = '';
        this.got = undefined;
        this.working.cancel();
        this.scene.source.show([], '');
        this.scene.target.show([]);
        fill(this.best);
        fill(
            this.figure,
            h('p', { class: 'hint' }, 'Type a sentence above; its translation appears as you type.'),
        );
    }

    draw() {
        const { got, app } = this;
        if (!got) return;
        const { state } = app;
        this.scene.show(got.look, state.mode === 'redraw' ? state.temperature : 1);
        fill(
            this.best,
            nbest(got.list.translations, state.n, (n) => app.set({ n, at: null, pick: '' }, 'push')),
        );
        this.drawTools(got.look);
        this.drawFigure(got.look);
        this.drawAgain(got);
    }

    /** @param {import('../types.js').Look} look */
    drawTools(look) {
        const { state, set } = this.app;
        const units = /** @type {[string, string][]} */ ([
            ['words', 'words'],
            ['pieces', 'pieces'],
        ]);
        const figures =
            look.sites.length === 0 ? FIGURES.filter(([key]) => key === 'matrix' || key === 'tree') : FIGURES;
        fill(
            this.tools,
            choice('Picture', figures, state.figure, (figure) => set({ figure }, 'push')),
            hasPieces(look.source_tokens, look.target_tokens)
                ? choice('Words or pieces', units, state.units, (value) =>
                      set({ units: value === 'pieces' ? 'pieces' : 'words', at: null, pick: '' }),
                  )
                : null,
        );
    }

    /** @param {import('../types.js').Look} look */
    drawFigure(look) {
        const { state, set } = this.app;
        const isTree = state.figure === 'tree';
        if (isTree) {
            fill(this.figure, this.tree.element);
            if (this.tree.selected === null) showCandidates(this.reading, this.tree.nodes, null, () => {});
        } else if (look.sites.length === 0) {
            fill(
                this.figure,
                h('p', { class: 'nothing' }, 'This model has one vector and nothing to look at.'),
                h(
                    'p',
                    { class: 'hint' },
                    'Its encoder hands over a single vector for the whole sentence, however long. Choose a ',
                    'model with attention to see where it looks.',
                ),
            );
            fill(this.reading);
        } else if (state.figure === 'heads') {
            fill(
                this.figure,
                multiples(look, state, (layer, head) => set({ layer, head, figure: 'matrix' }, 'push')),
            );
        } else {
            const { links, matrix, steps, table } = this.scene;
            fill(this.figure, state.figure === 'links' ? links.element : matrix.element, steps, table);
        }
        this.drawControls(look, isTree || look.sites.length === 0);
    }

    /** @param {import('../types.js').Look} look @param {boolean} bare no weights are shown */
    drawControls(look, bare) {
        this.heat.element.hidden = bare;
        this.heat.update();
        fill(this.sites, bare ? null : sitePickers(this.app, look.sites));
        fill(this.files, bare ? null : saveButtons(this.app, this.got?.target ?? {}, this.working));
    }

    /** The run under the temperature, beside the original. @param {NonNullable<Translate['got']>} got */
    drawAgain({ look, hot, heat }) {
        const { units, figure } = this.app.state;
        const { scene, beside } = this;
        const translation = hot?.after.translations[0];
        fill(beside.strip);
        if (!hot || !translation) return fill(this.again);
        const sides = { rows: group(look.target_tokens, units), columns: group(look.source_tokens, units) };
        const phrases = [describe(temperatureEdit(heat), sides)];
        const run = { translation, source: hot.after.source_tokens, effect: hot.effect };
        beside.show(look, run, phrases, units);
        fill(this.again, beside.row, beside.story);
        if (figure !== 'matrix' || look.sites.length === 0) return undefined;
        const caption = h('figcaption', {}, 'At temperature 1');
        const own = h('figure', {}, caption, scene.matrix.element, scene.steps, scene.table);
        return fill(this.figure, h('div', { class: 'pair' }, own, beside.figure));
    }

    /** From a node of the tree to What if, where the words up to it are forced. @param {string} prefix */
    goOn(prefix) {
        const others = this.app.state.edits.filter((edit) => request([edit]).prefix === undefined);
        this.app.set({ view: 'what_if', edits: [...others, prefixEdit([], prefix)] }, 'push');
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        return this.scene.key(event);
    }

    close() {
        this.stop();
        this.working.cancel();
        this.scene.close();
        this.beside.close();
        this.tree.close();
    }
}

/** @param {App} app @returns {import('../types.js').View} */
export const open = (app) => new Translate(app);
