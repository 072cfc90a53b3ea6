// What the steps of the lesson share.
import { ask } from '../api.js';
import { h } from '../dom.js';
import { gridOf } from '../look.js';
import { Matrix } from '../matrix.js';
import { matrixTable } from '../table.js';
import { group, isEnd } from '../words.js';

/** @typedef {import('../types.js').App} App */
/** @typedef {import('../types.js').Look} Look */
/** @typedef {import('../types.js').Model} Model */
/** @typedef {{element: HTMLElement, close?: () => void}} Activity */
/** @typedef {{title: string, open: (app: App) => Activity}} Step */

/**
 * The demo's model of a kind, or any other of that kind.
 * @param {App} app @param {Model['kind']} kind
 */
export const modelOf = (app, kind) =>
    app.models.find((model) => model.name === kind) ?? app.models.find((model) => model.kind === kind);

/**
 * Says which models a step would need and does not have.
 * @param {App} app @param {Model['kind'][]} kinds
 */
export function missing(app, kinds) {
    const absent = kinds.filter((kind) => !modelOf(app, kind));
    if (absent.length === 0) return null;
    const names = absent.map((kind) => [h('code', {}, kind), ' ']);
    return h(
        'p',
        { class: 'missing' },
        'Not served here: ',
        names,
        '. Make the demo’s models with ',
        h('code', {}, 'regard demo --out DIR'),
        ' and serve them: ',
        h('code', {}, `regard serve ${absent.map((kind) => `DIR/${kind}`).join(' ')}`),
        '.',
    );
}

/** @param {string} model @param {string} text @param {string[]} interventions @param {AbortSignal} signal @returns {Promise<Look>} */
export const look = (model, text, interventions, signal) =>
    ask('look', { model, text, ...(interventions.length > 0 ? { interventions } : {}) }, signal);

/** The words of a list of tokens, without the end. @param {string[]} tokens */
export const wordsOf = (tokens) =>
    group(
        tokens.filter((token) => !isEnd(token)),
        'words',
    );

/** @param {...import('../dom.js').Child} children */
export const text = (...children) => h('p', { class: 'prose' }, children);

/** The matrix of a look, with its table. @param {Look} seen @param {number} [temperature] */
export function picture(seen, temperature = 1) {
    const grid = gridOf(seen, { site: 'cross', layer: null, head: null, units: 'words' }, temperature);
    if (!grid) return null;
    const matrix = new Matrix({
        label: 'Attention',
        largest: 44,
        hover: (cell) => matrix.highlight({ row: cell?.row ?? null, column: null, at: null }),
    });
    matrix.show(grid);
    return {
        grid,
        matrix,
        element: h('figure', {}, matrix.element, matrixTable('Attention weights', grid)),
        close: () => matrix.close(),
    };
}
