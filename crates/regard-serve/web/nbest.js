// The score of the translation and, behind it, the list of the best ones, each to be chosen or copied.
import { button, h } from './dom.js';
import { signed } from './numbers.js';
import { changes, direction } from './words.js';

/** @param {string} text @param {HTMLButtonElement} said */
export async function copy(text, said) {
    const label = said.textContent;
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        // Without a secure context the clipboard is closed; a hidden field and the old command still reach it.
        const field = h('textarea', { class: 'unseen' }, text);
        document.body.append(field);
        field.select();
        document.execCommand('copy');
        field.remove();
    }
    said.textContent = 'copied';
    setTimeout(() => (said.textContent = label), 1200);
}

/** The text with the words marked that the best translation does not have. @param {string} best @param {string} text */
export function marked(best, text) {
    const words = text.split(' ');
    const other = new Set(
        changes(best.split(' '), words).flatMap((hunk) => hunk.after.map((_, k) => hunk.to + k)),
    );
    return words.map((word, i) => [i > 0 ? ' ' : '', other.has(i) ? h('mark', {}, word) : word]);
}

/**
 * @param {import('./types.js').Translation[]} list
 * @param {number} n
 * @param {(n: number) => void} choose
 */
export function nbest(list, n, choose) {
    const [best] = list;
    const shown = list[n] ?? best;
    if (!best || !shown) return null;
    const copier = (/** @type {string} */ text) => {
        const one = button('copy', () => copy(text, one), { class: 'quiet', 'aria-label': `Copy “${text}”` });
        return one;
    };
    const item = (/** @type {import('./types.js').Translation} */ one, /** @type {number} */ i) =>
        h(
            'li',
            {},
            h(
                'button',
                {
                    type: 'button',
                    class: 'candidate',
                    'aria-pressed': String(i === n),
                    onclick: () => choose(i),
                },
                h('span', { class: 'score' }, signed(one.score)),
                h('span', { dir: direction(one.text) }, marked(best.text, one.text)),
            ),
            copier(one.text),
        );
    const numbers = `log-probability ${signed(shown.log_prob)} over ${shown.length} tokens${shown.finished ? '' : ', cut at the length limit'}`;
    // It lies over the picture, so it closes when the reader turns elsewhere.
    const leave = (/** @type {FocusEvent} */ event) => {
        const box = /** @type {HTMLDetailsElement} */ (event.currentTarget);
        if (!box.contains(/** @type {Node | null} */ (event.relatedTarget))) box.open = false;
    };
    return h(
        'details',
        { class: 'nbest', onfocusout: leave },
        h(
            'summary',
            { title: numbers },
            h('span', { class: 'score', 'data-score': shown.score }, signed(shown.score)),
            h('span', { class: 'unseen' }, 'score; '),
            ` ${n + 1} of ${list.length}`,
        ),
        h(
            'div',
            { class: 'sheet', tabindex: -1 },
            h('ol', {}, list.map(item)),
            h('p', { class: 'note' }, `The chosen one: ${numbers}.`),
        ),
    );
}
