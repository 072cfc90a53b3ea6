// What if: change the weights, and see whether the words change.
import { Beside } from '../beside.js';
import { fill, h } from '../dom.js';
import { add, showEdits, showMore, undo } from '../edits.js';
import { cellEdit, describe, headClause, request, rowEdit, touched } from '../interventions.js';
import { openMenu } from '../menu.js';
import { signed } from '../numbers.js';
import { edited, original } from '../runs.js';
import { Scene } from '../scene.js';
import { sitePickers } from '../sites.js';
import { onTheme } from '../theme.js';
import { Working } from '../working.js';
import { group } from '../words.js';

/** @typedef {import('../types.js').App} App */
/** @typedef {import('../types.js').Look} Look */

class WhatIf {
    /** @param {App} app */
    constructor(app) {
        this.app = app;
        this.working = new Working();
        /** What the page shows, or waits for. */
        this.asked = '';
        /** @type {(import('../runs.js').Original & {run: import('../runs.js').Edited | null}) | undefined} */
        this.got = undefined;
        this.beside = new Beside();
        this.scene = new Scene(app, {
            lit: (light) => this.beside.matrix.highlight(light),
            open: (cell, place) => this.menu(cell, place),
            paint: (row, weights) => this.paint(row, weights),
        });
        this.score = h('span', { class: 'score' });
        this.original = h('figure', { class: 'original-figure' });
        this.edits = h('div', { class: 'edit-list' });
        this.more = h('div', { class: 'more' });
        this.sites = h('div', { class: 'controls' });
        const { row, story, figure, strip } = this.beside;
        this.element = h(
            'div',
            { class: 'view what-if' },
            h('h1', { class: 'unseen' }, 'What if'),
            h(
                'section',
                { class: 'sentences' },
                this.scene.source.element,
                h(
                    'div',
                    { class: 'target' },
                    this.scene.target.element,
                    h('div', { class: 'scores' }, this.score),
                ),
                row,
                story,
                this.working.element,
            ),
            h(
                'div',
                { class: 'desk' },
                h(
                    'section',
                    { class: 'stage', 'aria-label': 'Pictures' },
                    h('div', { class: 'pair' }, this.original, figure),
                    strip,
                ),
                h('aside', { class: 'panel', 'aria-label': 'Edits' }, this.edits, this.more, this.sites),
            ),
        );
        this.stop = onTheme(() => this.draw());
        this.update();
    }

    update() {
        const { model, text, n, edits } = this.app.state;
        const key = JSON.stringify([model, text, n, edits]);
        if (text === '') return;
        if (key === this.asked) return this.draw();
        this.asked = key;
        this.ask(edits);
    }

    /** @param {string[]} edits */
    async ask(edits) {
        const { model, text, n } = this.app.state;
        this.got = await this.working.run(async (signal) => {
            const seen = await original({ model, text, n }, signal);
            // The original is on the page even if the edit turns out to be one that the server refuses.
            this.got = { ...seen, run: null };
            this.draw();
            const run =
                edits.length === 0
                    ? null
                    : await edited({ model, text }, seen.target, request(edits), signal);
            return { ...seen, run };
        });
        this.draw();
    }

    sides() {
        const { units } = this.app.state;
        const look = /** @type {Look} */ (this.got?.look);
        return { rows: group(look.target_tokens, units), columns: group(look.source_tokens, units) };
    }

    draw() {
        const { got, app } = this;
        if (!got) return;
        const { look, list, run } = got;
        const { state } = app;
        const sides = this.sides();
        this.scene.show(look, 1, touched(state.edits, sides));
        this.score.textContent = signed(list.translations[state.n]?.score ?? list.translations[0]?.score);
        const nothing = [
            h('p', { class: 'nothing' }, 'This model has one vector and nothing to look at.'),
            h(
                'p',
                { class: 'hint' },
                'There are no weights to change. A word can still be forced: see “More edits”.',
            ),
        ];
        fill(
            this.original,
            h('figcaption', {}, 'The model’s own weights'),
            look.sites.length > 0 ? [this.scene.matrix.element, this.scene.steps, this.scene.table] : nothing,
        );
        showEdits(this.edits, app, sides);
        if (!this.more.contains(document.activeElement)) showMore(this.more, app, look, sides, this.step());
        fill(
            this.sites,
            sitePickers(
                app,
                look.sites.filter((site) => site.site === 'cross'),
            ),
        );
        this.drawEdited(look, run, sides);
    }

    /** The word that is picked or reached, to begin the form with. */
    step() {
        const { at, pick } = this.app.state;
        return at ?? (pick.startsWith('t') ? Number(pick.slice(1)) : 0);
    }

    /**
     * @param {Look} look
     * @param {import('../runs.js').Edited | null} run
     * @param {import('../interventions.js').Sides} sides
     */
    drawEdited(look, run, sides) {
        const translation = run?.after.translations[0];
        const { row, story, figure, strip } = this.beside;
        row.hidden = story.hidden = strip.hidden = figure.hidden = !translation;
        if (!run || !translation) return;
        const { edits, units } = this.app.state;
        const phrases = edits.map((edit) => describe(edit, sides));
        this.beside.show(
            look,
            { translation, source: run.after.source_tokens, effect: run.effect },
            phrases,
            units,
        );
    }

    heads() {
        const { layer, head } = this.app.state;
        return headClause(layer, head);
    }

    /** @param {import('../matrix.js').Cell} cell @param {DOMRect} place */
    menu(cell, place) {
        const { rows, columns } = this.sides();
        const row = rows[cell.row],
            column = columns[cell.column];
        if (!row || !column) return;
        const heads = this.heads();
        const edit = (/** @type {'remove' | 'force'} */ action, /** @type {boolean} */ everywhere) => () =>
            add(this.app, cellEdit(action, column, everywhere ? null : row, heads));
        const weight = (this.scene.grid?.weights[cell.row]?.[cell.column] ?? 0).toFixed(2);
        openMenu(
            `${row.text} reads ${column.text}: ${weight}`,
            place,
            [
                [`Remove “${column.text}” here`, edit('remove', false)],
                [`Remove “${column.text}” at every word`, edit('remove', true)],
                [`Force “${row.text}” to “${column.text}”`, edit('force', false)],
                [`Force every word to “${column.text}”`, edit('force', true)],
            ],
            this.scene.matrix.element,
        );
    }

    /** @param {number} row @param {number[]} weights */
    paint(row, weights) {
        const { rows, columns } = this.sides();
        const word = rows[row];
        if (word) add(this.app, rowEdit(word, columns, weights, this.heads()));
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        if (event.key !== 'u' && event.key !== 'U') return this.scene.key(event);
        undo(this.app);
        return true;
    }

    close() {
        this.stop();
        this.working.cancel();
        this.scene.close();
        this.beside.close();
    }
}

/** The weights that are edited are those between the sentences. @param {App} app @returns {import('../types.js').View} */
export function open(app) {
    app.state.site = 'cross';
    return new WhatIf(app);
}
