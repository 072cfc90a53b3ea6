// What the keys do.
import { button, h } from './dom.js';

const KEYS = [
    ['← →', 'Back and Next: walk the words of the translation'],
    ['arrows', 'in a matrix: move over its cells; with Shift: repaint the row'],
    ['Enter', 'in a matrix: remove or force the cell; in a tree: its candidates'],
    ['E', 'edit the sentence; Enter ends'],
    ['U', 'undo the last edit'],
    ['Esc', 'let go of what is selected'],
    ['1 – 5', 'Translate, What if, Compare, Audit, Lesson'],
    ['?', 'this list'],
];

/** Opens the list; says that the key was used. */
export function openHelp() {
    if (document.querySelector('dialog')) return true;
    const rows = KEYS.map(([key, what]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)]);
    const dialog = h(
        'dialog',
        { 'aria-label': 'Keys' },
        h('h2', {}, 'Keys'),
        h('dl', {}, rows),
        button('Close', () => dialog.close(), { class: 'main' }),
    );
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return true;
}
