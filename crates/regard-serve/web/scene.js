// One sentence, its translation and the picture between them, sharing one light: what is pointed at, picked, or reached by Next.
import { button, fill, h } from './dom.js';
import { Links } from './links.js';
import { gridOf } from './look.js';
import { Matrix } from './matrix.js';
import { Line, Source } from './sentence.js';
import { matrixTable } from './table.js';
import { onTheme } from './theme.js';
import { group, isEnd } from './words.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').Look} Look */
/** @typedef {import('./types.js').Grid} Grid */
/** @typedef {import('./matrix.js').Light} Light */

/**
 * @typedef {object} SceneOptions
 * @property {(light: Light, grid: Grid) => void} [lit] what is lit has changed
 * @property {(cell: import('./matrix.js').Cell, place: DOMRect) => void} [open]
 * @property {(row: number, weights: number[]) => void} [paint]
 */

export class Scene {
    /** @param {App} app @param {SceneOptions} [options] */
    constructor(app, options = {}) {
        this.app = app;
        this.options = options;
        /** @type {Grid | null} */
        this.grid = null;
        /** @type {{side: 's' | 't', index: number} | null} */
        this.hovered = null;
        const heard = { hover: this.hover.bind(this), pick: this.pick.bind(this) };
        this.source = new Source(heard, (text, isFirst) =>
            app.set({ text, n: 0, at: null, pick: '', edits: [] }, isFirst ? 'push' : 'replace'),
        );
        this.target = new Line('t', 'Translation', heard);
        this.matrix = new Matrix({
            label: 'Attention',
            pick: heard.pick,
            ...(options.open ? { open: options.open } : { open: (cell) => heard.pick('t', cell.row) }),
            ...(options.paint ? { paint: options.paint } : {}),
            hover: (cell) => this.hover('t', cell ? cell.row : null),
        });
        this.links = new Links({ label: 'Attention', ...heard });
        this.table = h('div', {});
        this.back = button('◀ Back', () => this.walk(-1), { title: 'Back (←)' });
        this.next = button('Next ▶', () => this.walk(1), { class: 'main', title: 'Next (→)' });
        this.steps = h(
            'div',
            { class: 'steps' },
            this.back,
            this.next,
            h('span', { class: 'note keys' }, h('kbd', {}, '←'), ' ', h('kbd', {}, '→')),
        );
        this.stop = onTheme(() => this.relight());
    }

    /**
     * @param {Look} look
     * @param {number} temperature of the weights that are drawn
     * @param {Set<string>} [marked]
     */
    show(look, temperature, marked) {
        const { state } = this.app;
        this.look = look;
        const own = look.sites.some((site) => site.site === state.site);
        this.grid = gridOf(look, own ? state : { ...state, site: 'cross' }, temperature);
        this.source.show(
            group(
                look.source_tokens.filter((token) => !isEnd(token)),
                state.units,
            ),
            state.text,
            look.source_unknown,
        );
        this.target.show(group(look.target_tokens, state.units), { unknown: look.target_unknown ?? [] });
        if (this.grid) {
            this.matrix.show(this.grid, marked);
            this.links.show(this.grid);
            fill(
                this.table,
                matrixTable('Attention weights: a row a target word, a column a source word', this.grid),
            );
        } else {
            fill(this.table);
        }
        this.relight();
    }

    /** @param {'s' | 't'} side @param {number | null} index */
    hover(side, index) {
        this.hovered = index === null ? null : { side, index };
        this.relight();
    }

    /** @param {'s' | 't'} side @param {number | null} index */
    pick(side, index) {
        const pick = `${side}${index}`;
        this.app.set({ pick: this.app.state.pick === pick ? '' : pick, at: null });
    }

    /** The next or the last target word; from a picked word on, where there is one. @param {number} by */
    walk(by) {
        const count = this.grid?.rows.length ?? this.look?.target_tokens.length ?? 0;
        if (count === 0) return;
        const { at, pick } = this.app.state;
        const from = at ?? (pick.startsWith('t') ? Number(pick.slice(1)) : null);
        const next = from === null ? (by > 0 ? 0 : count - 1) : from + by;
        this.hovered = null;
        this.app.set({ at: next < 0 || next >= count ? null : next, pick: '' });
    }

    /** What is lit: what is pointed at, else what is picked, and how far Next has come. @returns {Light} */
    light() {
        const { at, pick } = this.app.state;
        const picked = pick === '' ? null : { side: pick[0], index: Number(pick.slice(1)) };
        const asked = this.hovered ?? picked;
        const within = (/** @type {number} */ count) => asked !== null && asked.index < count;
        const row = asked?.side === 't' && within(this.grid?.rows.length ?? 0) ? asked.index : null;
        const column = asked?.side === 's' && within(this.grid?.columns.length ?? 0) ? asked.index : null;
        return { row, column, at };
    }

    relight() {
        const light = this.light();
        this.lightLines(light);
        if (!this.grid) return;
        this.matrix.highlight(light);
        this.links.highlight(light);
        this.options.lit?.(light, this.grid);
    }

    /** The words of both lines, as far as the picture is between them. @param {Light} light */
    lightLines({ row, column, at }) {
        const { site } = this.app.state;
        const current = row ?? (column === null ? at : null);
        const reads = current === null ? null : (this.grid?.weights[current] ?? null);
        const readBy =
            column === null ? null : (this.grid?.weights.map((weights) => weights[column] ?? 0) ?? null);
        const isRead = site !== 'decoder_self',
            reader = site !== 'encoder_self';
        this.source.line.light(isRead ? reads : null, isRead ? column : null, null);
        this.target.light(reader ? readBy : null, reader ? current : null, row === null ? at : null);
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        if (event.key === 'ArrowRight') this.walk(1);
        else if (event.key === 'ArrowLeft') this.walk(-1);
        else if (event.key === 'Escape') this.app.set({ at: null, pick: '' });
        else if (event.key === 'e' || event.key === 'E') this.source.edit();
        else return false;
        return true;
    }

    close() {
        this.stop();
        this.matrix.close();
        this.links.close();
    }
}
