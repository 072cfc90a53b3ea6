// From tokens to words and back, which way they run, and where two sentences differ.

/** @typedef {import('./types.js').Word} Word */

const END = '</s>';

/** @param {string} token */
export const isEnd = (token) => token === END;

/**
 * How the tokens of a model mark the edges of words: SentencePiece's `▁` before a word, BPE's `@@` inside one, or not at all.
 * @param {string[]} tokens
 */
function marking(tokens) {
    if (tokens.some((token) => token.startsWith('▁'))) return 'before';
    return tokens.some((token) => token.endsWith('@@')) ? 'inside' : 'none';
}

/**
 * All tokens that were written: a translation's list leaves its end symbol out, its `length` counts it.
 * @param {{tokens: string[], length: number}} translation
 */
export const written = ({ tokens, length }) => (length > tokens.length ? [...tokens, END] : tokens);

/** Whether words and pieces differ. @param {string[][]} sides */
export const hasPieces = (...sides) => sides.some((tokens) => marking(tokens) !== 'none');

/**
 * The tokens as words (`words`) or one by one (`pieces`).
 * @param {string[]} tokens
 * @param {'words' | 'pieces'} units
 * @returns {Word[]}
 */
export function group(tokens, units) {
    const mark = marking(tokens);
    /** @type {Word[]} */
    const words = [];
    tokens.forEach((token, i) => {
        const last = words.at(-1);
        const previous = tokens[i - 1] ?? '';
        const joins =
            mark === 'before'
                ? !token.startsWith('▁') && !isEnd(token) && !isEnd(previous)
                : mark === 'inside' && previous.endsWith('@@');
        if (last && joins && units === 'words') {
            last.text += bare(token);
            last.to = i + 1;
        } else {
            words.push({ text: units === 'words' ? bare(token) : token, from: i, to: i + 1 });
        }
    });
    return words.map((word) => ({ ...word, text: visible(word.text) }));
}

/** @param {string} token */
const bare = (token) => token.replace(/^▁/u, '').replace(/@@$/u, '');

/** @param {string} text */
export const visible = (text) =>
    text.trim() === ''
        ? '␣'
        : isEnd(text)
          ? '⟨end⟩'
          : text.replace(/[\p{Cc}\p{Bidi_C}\u2028\u2029]/gu, '\ufffd');

/** The text that tokens stand for, as a prefix is written. @param {string[]} tokens */
export const textOf = (tokens) =>
    group(
        tokens.filter((token) => !isEnd(token)),
        'words',
    )
        .map((word) => word.text)
        .join(' ');

/**
 * Weights of words: columns of one word are added, rows of one word averaged.
 * @param {number[][]} weights
 * @param {Word[]} rows
 * @param {Word[]} columns
 * @returns {number[][]}
 */
export function merge(weights, rows, columns) {
    const cell = (/** @type {Word} */ row, /** @type {Word} */ column) => {
        let sum = 0;
        for (let i = row.from; i < row.to; i++)
            for (let j = column.from; j < column.to; j++) sum += weights[i]?.[j] ?? 0;
        return sum / (row.to - row.from);
    };
    return rows.map((row) => columns.map((column) => cell(row, column)));
}

/** `rtl` where the first letter that has a direction runs left. @param {string} text */
export function direction(text) {
    const letter = /\p{L}/u.exec(text)?.[0] ?? '';
    return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u.test(letter) ? 'rtl' : 'ltr';
}

/**
 * What changed between two lists of words: runs of `before` that became runs of `after`, either of which may be empty,
 * around the longest common subsequence.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {{before: string[], after: string[], at: number, to: number}[]} `at` counts in `before`, `to` in `after`
 */
export function changes(before, after) {
    const longest = commonLengths(before, after);
    /** @type {{before: string[], after: string[], at: number, to: number}[]} */
    const hunks = [];
    let [i, j] = [0, 0];
    /** @type {{before: string[], after: string[], at: number, to: number} | null} */
    let open = null;
    while (i < before.length || j < after.length) {
        if (i < before.length && j < after.length && before[i] === after[j]) {
            open = null;
            [i, j] = [i + 1, j + 1];
            continue;
        }
        if (!open) hunks.push((open = { before: [], after: [], at: i, to: j }));
        const skipBefore = longest[i + 1]?.[j] ?? -1,
            skipAfter = longest[i]?.[j + 1] ?? -1;
        if (i < before.length && (j >= after.length || skipBefore >= skipAfter))
            open.before.push(/** @type {string} */ (before[i++]));
        else open.after.push(/** @type {string} */ (after[j++]));
    }
    return hunks;
}

/** `[i][j]`: the length of the longest common subsequence of what follows. @param {string[]} a @param {string[]} b */
function commonLengths(a, b) {
    /** @type {number[][]} */
    const table = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
    const at = (/** @type {number} */ i, /** @type {number} */ j) => table[i]?.[j] ?? 0;
    for (let i = a.length - 1; i >= 0; i--) {
        for (let j = b.length - 1; j >= 0; j--) {
            /** @type {number[]} */ (table[i])[j] =
                a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
        }
    }
    return table;
}
