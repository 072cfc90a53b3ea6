// The state of the page and the address bar, each made from the other.

/** @typedef {import('./types.js').State} State */

export const SENTENCE = 'the black cat sleeps on the red chair';
export const VIEWS = /** @type {const} */ (['translate', 'what_if', 'compare', 'audit', 'lesson']);
export const COLDEST = 0.2;
export const HOTTEST = 4;

/** @returns {State} */
export const initial = () => ({
    view: 'translate',
    model: '',
    text: SENTENCE,
    n: 0,
    figure: 'matrix',
    site: 'cross',
    layer: null,
    head: null,
    units: 'words',
    at: null,
    pick: '',
    temperature: 1,
    mode: 'redraw',
    edits: [],
    models: [],
    lesson: 1,
});

/** @param {string | null} text */
function index(text) {
    const value = Number(text);
    return text === null || text === '' || !Number.isInteger(value) || value < 0 || value > 9999
        ? null
        : value;
}

/**
 * @template {string} T
 * @param {string | null} text
 * @param {readonly T[]} allowed
 * @param {T} otherwise
 */
const oneOf = (text, allowed, otherwise) => allowed.find((value) => value === text) ?? otherwise;

/**
 * The state that a query string stands for; what it does not say, or says wrongly, is as at first.
 * @param {string} query
 * @returns {State}
 */
export function read(query) {
    const first = initial();
    const q = new URLSearchParams(query);
    const temperature = Number(q.get('t') ?? 1);
    return {
        view: oneOf(q.get('view'), VIEWS, 'translate'),
        model: q.get('model') ?? '',
        text: q.get('text') ?? first.text,
        n: index(q.get('n')) ?? 0,
        figure: oneOf(q.get('figure'), ['matrix', 'links', 'heads', 'tree'], 'matrix'),
        site: oneOf(q.get('site'), ['cross', 'encoder_self', 'decoder_self'], 'cross'),
        layer: index(q.get('layer')),
        head: index(q.get('head')),
        units: oneOf(q.get('units'), ['words', 'pieces'], 'words'),
        at: index(q.get('at')),
        pick: /^[st]\d{1,4}$/u.test(q.get('pick') ?? '') ? (q.get('pick') ?? '') : '',
        temperature: temperature >= COLDEST && temperature <= HOTTEST ? temperature : 1,
        mode: oneOf(q.get('mode'), ['redraw', 'decode'], 'redraw'),
        edits: q.getAll('edit').slice(0, 100),
        models: q.getAll('with').slice(0, 3),
        lesson: Math.min(8, Math.max(1, index(q.get('step')) ?? 1)),
    };
}

/**
 * The query string of a state, without what is as at first.
 * @param {State} state
 */
export function write(state) {
    const first = initial();
    const q = new URLSearchParams();
    const put = (/** @type {string} */ key, /** @type {unknown} */ value, /** @type {unknown} */ usual) => {
        if (value !== usual && value !== null && value !== '') q.append(key, String(value));
    };
    put('view', state.view, first.view);
    put('model', state.model, first.model);
    if (state.text !== first.text) q.append('text', state.text);
    put('n', state.n, 0);
    put('figure', state.figure, first.figure);
    put('site', state.site, first.site);
    put('layer', state.layer, null);
    put('head', state.head, null);
    put('units', state.units, first.units);
    put('at', state.at, null);
    put('pick', state.pick, '');
    put('t', state.temperature, 1);
    put('mode', state.mode, first.mode);
    for (const edit of state.edits) q.append('edit', edit);
    for (const model of state.models) q.append('with', model);
    put('step', state.lesson, 1);
    const text = q.toString();
    return text === '' ? location.pathname : `?${text}`;
}
