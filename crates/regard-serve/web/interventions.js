// Edits of the attention: as the API takes them, and as a reader would say them.
import { h } from './dom.js';
import { textOf } from './words.js';

/** @typedef {import('./types.js').Word} Word */
/** @typedef {import('./dom.js').Child} Child */
/** @typedef {{rows: Word[], columns: Word[]}} Sides */

const PREFIX = 'prefix:';

/** The tokens of a word, as a list, or all where there is no word. @param {Word | null} word */
const tokens = (word) =>
    word ? Array.from({ length: word.to - word.from }, (_, k) => word.from + k).join(',') : 'all';

/** `@step=…,head=…`: where an edit holds. @param {Word | null} row every row where null @param {string} heads */
const where = (row, heads) => `@step=${tokens(row)}${heads}`;

/** `head=…` as the API writes it, for the head that is shown, or all where their mean is. @param {number | null} layer @param {number | null} head */
export const headClause = (layer, head) => (layer === null || head === null ? '' : `,head=${layer}.${head}`);

/** @param {'remove' | 'force'} action @param {Word} column @param {Word | null} row every row where null @param {string} heads */
export function cellEdit(action, column, row, heads) {
    return `${action}:src=${action === 'force' ? column.from : tokens(column)}${where(row, heads)}`;
}

/**
 * A row given by hand: the weight of a word is shared among its tokens.
 * @param {Word} row @param {Word[]} columns @param {number[]} weights of words @param {string} heads
 */
export function rowEdit(row, columns, weights, heads) {
    const shared = columns.flatMap((word, j) =>
        Array(word.to - word.from).fill((weights[j] ?? 0) / (word.to - word.from)),
    );
    const rounded = shared.map((weight) => Math.round(weight * 1e4) / 1e4);
    const largest = rounded.indexOf(Math.max(...rounded));
    const rest = rounded.reduce((sum, weight, j) => (j === largest ? sum : sum + weight), 0);
    rounded[largest] = Math.round((1 - rest) * 1e4) / 1e4;
    return `row:${rounded.join(',')}${where(row, heads)}`;
}

/** @param {number} layer @param {number} head */
export const headEdit = (layer, head) => `remove-head@head=${layer}.${head}`;

/** @param {number} temperature */
export const temperatureEdit = (temperature) => `temperature:${temperature}@site=cross`;

/** A word forced after the tokens before it. @param {string[]} before @param {string} word */
export const prefixEdit = (before, word) => `${PREFIX}${[textOf(before), word].filter(Boolean).join(' ')}`;

/**
 * What the edits ask of the API.
 * @param {string[]} edits
 * @returns {{interventions: string[], prefix: string | undefined}} the last prefix counts
 */
export function request(edits) {
    const prefix = edits.findLast((edit) => edit.startsWith(PREFIX))?.slice(PREFIX.length);
    return { interventions: edits.filter((edit) => !edit.startsWith(PREFIX)), prefix };
}

/** `key=a,b,other=c` as lists by key; a comma without a key belongs to the key before it. @param {string} list */
function lists(list) {
    /** @type {Record<string, string[]>} */
    const found = {};
    let last = '';
    for (const part of list.split(',')) {
        const [, key, value = part] = /^([a-z]+)=(.*)$/u.exec(part) ?? [];
        last = key ?? last;
        (found[last] ??= []).push(value);
    }
    return found;
}

/** @param {string} spec */
export function parse(spec) {
    const [, action = spec, text = '', place = ''] = /^([a-z-]+)(?::([^@]*))?(?:@(.*))?$/u.exec(spec) ?? [];
    return { action, text, given: lists(text), where: lists(place) };
}

/** Whether an edit holds at every step. @param {Record<string, string[]>} at */
const isEverywhere = (at) => at.step === undefined || at.step[0] === 'all';

/** The words that tokens belong to. @param {Word[]} words @param {string[] | undefined} indices */
function wordsAt(words, indices = []) {
    const own = words.filter((word) =>
        indices.some((index) => Number(index) >= word.from && Number(index) < word.to),
    );
    return h(
        'em',
        {},
        own.length > 0 ? own.map((word) => word.text).join(' ') : `position ${indices.join(', ')}`,
    );
}

/**
 * An edit in words: the verb as an order and as what is done, and the rest of the phrase.
 * @param {string} edit
 * @param {Sides} sides
 * @returns {{order: string, doing: string, rest: Child[]}}
 */
export function describe(edit, { rows, columns }) {
    if (edit.startsWith(PREFIX)) {
        const words = edit.slice(PREFIX.length).split(' ');
        return {
            order: 'make',
            doing: 'Making',
            rest: [` word ${words.length} `, h('em', {}, words.at(-1))],
        };
    }
    const { action, text, given, where: at } = parse(edit);
    const everywhere = isEverywhere(at);
    const row = () => wordsAt(rows, at.step);
    const head = at.head === undefined ? [] : [` (head ${at.head.join(', ')})`];
    const by = (
        /** @type {string} */ order,
        /** @type {string} */ doing,
        /** @type {Child[]} */ ...rest
    ) => ({ order, doing, rest: [...rest, ...head] });
    if (action === 'remove')
        return by(
            'remove',
            'Removing',
            ' ',
            wordsAt(columns, given.src),
            everywhere ? '' : [' where ', row(), ' is written'],
        );
    if (action === 'force')
        return by(
            'force',
            'Forcing',
            ' ',
            everywhere ? 'every word' : row(),
            ' to ',
            wordsAt(columns, given.src),
        );
    if (action === 'row') return by('repaint', 'Repainting', ' the row of ', row());
    if (action === 'remove-head')
        return { order: 'drop', doing: 'Dropping', rest: [` head ${at.head?.join(', ')}`] };
    if (action === 'temperature') return by('set', 'Setting', ` the temperature to ${text}`);
    return { order: 'apply', doing: 'Applying', rest: [' ', h('code', {}, edit)] };
}

/** Cells `row,column` and columns `,column` that edits touch, for rings in the picture. @param {string[]} edits @param {Sides} sides */
export function touched(edits, { rows, columns }) {
    const marks = new Set();
    const find = (/** @type {Word[]} */ words, /** @type {string[]} */ indices) =>
        indices.map((index) =>
            words.findIndex((word) => Number(index) >= word.from && Number(index) < word.to),
        );
    for (const { action, given, where: at } of request(edits).interventions.map(parse)) {
        if (action !== 'remove' && action !== 'force' && action !== 'row') continue;
        const within = isEverywhere(at) ? [''] : find(rows, at.step ?? []);
        const over = action === 'row' ? columns.map((_, j) => j) : find(columns, given.src ?? []);
        for (const row of within) for (const column of over) marks.add(`${row},${column}`);
    }
    return marks;
}
