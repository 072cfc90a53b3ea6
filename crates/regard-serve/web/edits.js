// The list of edits, with what undoes and shares it, and the edits that no click on the picture makes.
import { button, fill, h, picker } from './dom.js';
import { describe, headEdit, prefixEdit } from './interventions.js';
import { copy } from './nbest.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').Look} Look */
/** @typedef {import('./interventions.js').Sides} Sides */

/** @param {App} app @param {string} edit */
export const add = (app, edit) => app.set({ edits: [...app.state.edits, edit] }, 'push');

/** @param {App} app */
export const undo = (app) =>
    app.state.edits.length > 0 && app.set({ edits: app.state.edits.slice(0, -1) }, 'push');

/**
 * @param {HTMLElement} place
 * @param {App} app
 * @param {Sides} sides
 */
export function showEdits(place, app, sides) {
    const { edits } = app.state;
    const item = (/** @type {string} */ edit, /** @type {number} */ i) => {
        const { order, rest } = describe(edit, sides);
        const out = () => app.set({ edits: edits.filter((_, k) => k !== i) }, 'push');
        return h(
            'li',
            { title: edit },
            h('span', {}, order, rest),
            button('✕', out, { class: 'quiet', 'aria-label': `Take edit ${i + 1} out` }),
        );
    };
    const none = edits.length === 0;
    const share = button('Copy link', () => copy(location.href, share), { class: 'quiet' });
    fill(
        place,
        h('h2', {}, 'Edits'),
        none
            ? h(
                  'p',
                  { class: 'hint' },
                  'Click a cell to remove or force it. Drag along a row to repaint it: what you pass over shares the weight.',
              )
            : h('ol', { class: 'edits' }, edits.map(item)),
        h(
            'p',
            { class: 'row' },
            button('Undo', () => undo(app), { disabled: none, title: 'Undo (U)' }),
            button('Reset', () => app.set({ edits: [] }, 'push'), { disabled: none }),
            share,
        ),
    );
}

/**
 * Dropping a head, a word at a step, and an edit as the command line takes it.
 * @param {HTMLElement} place
 * @param {App} app
 * @param {Look} look
 * @param {Sides} sides
 * @param {number} step the word that the form begins with
 */
export function showMore(place, app, look, sides, step) {
    fill(
        place,
        h('h2', {}, 'More edits'),
        dropHead(app, look),
        forceWord(app, look, sides, step),
        byHand(app, look),
    );
}

/** @param {App} app @param {Look} look */
function dropHead(app, look) {
    const heads = look.sites.filter((site) => site.site === 'cross');
    if (heads.length < 2) return null;
    const options = heads.map(
        ({ layer, head }) =>
            /** @type {[string, string]} */ ([`${layer}.${head}`, `layer ${layer}, head ${head}`]),
    );
    const select = picker('drop', options, /** @type {[string, string]} */ (options[0])[0], () => {});
    const drop = () => {
        const [layer, head] = /** @type {HTMLSelectElement} */ (select.querySelector('select')).value
            .split('.')
            .map(Number);
        add(app, headEdit(layer ?? 0, head ?? 0));
    };
    return h('p', { class: 'row' }, select, button('Drop', drop));
}

/** @param {App} app @param {Look} look @param {Sides} sides @param {number} step */
function forceWord(app, look, { rows }, step) {
    const options = rows.map(
        (word, i) => /** @type {[string, string]} */ ([String(i), `${i + 1} · ${word.text}`]),
    );
    const where = picker('word', options, String(Math.min(step, rows.length - 1)), () => {});
    const word = h('input', {
        type: 'text',
        size: 10,
        'aria-label': 'The word it must be',
        placeholder: 'must be …',
        autocapitalize: 'off',
        spellcheck: 'false',
    });
    const force = (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const row = rows[Number(/** @type {HTMLSelectElement} */ (where.querySelector('select')).value)];
        if (row && word.value.trim() !== '')
            add(app, prefixEdit(look.target_tokens.slice(0, row.from), word.value.trim()));
    };
    return h(
        'form',
        { class: 'row', onsubmit: force },
        where,
        word,
        button('Go on', () => {}, { type: 'submit' }),
    );
}

/** @param {App} app @param {Look} look */
function byHand(app, look) {
    if (look.sites.length === 0) return null;
    const spec = h('input', {
        type: 'text',
        'aria-label': 'An edit as --intervene takes it',
        placeholder: 'uniform@step=2',
        autocapitalize: 'off',
        spellcheck: 'false',
    });
    const apply = (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        if (spec.value.trim() !== '') add(app, spec.value.trim());
    };
    return h(
        'details',
        { class: 'behind' },
        h('summary', {}, 'As the command line takes it'),
        h(
            'form',
            { class: 'row', onsubmit: apply },
            spec,
            button('Apply', () => {}, { type: 'submit' }),
        ),
        h(
            'p',
            { class: 'note' },
            'remove, force, row, uniform, permute, hard, temperature, remove-layer …: see regard look --help.',
        ),
    );
}
