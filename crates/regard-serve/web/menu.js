// The small menu that opens at a cell.
import { button, h } from './dom.js';

/**
 * @param {string} title
 * @param {DOMRect} place
 * @param {[string, () => void][]} items
 * @param {HTMLElement} origin what gets the focus back
 */
export function openMenu(title, place, items, origin) {
    const close = () => {
        menu.remove();
        document.removeEventListener('pointerdown', outside, true);
        removeEventListener('resize', close);
        origin.focus({ preventScroll: true });
    };
    const outside = (/** @type {PointerEvent} */ event) =>
        !menu.contains(/** @type {Node} */ (event.target)) && close();
    const entry = (/** @type {[string, () => void]} */ [label, action]) =>
        button(label, () => (close(), action()), { role: 'menuitem' });
    const menu = h(
        'div',
        { class: 'menu', role: 'menu', 'aria-label': title },
        h('p', { class: 'title' }, title),
        items.map(entry),
    );
    menu.addEventListener('keydown', (event) => {
        const entries = [...menu.querySelectorAll('button')];
        const at = entries.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
        if (event.key === 'Escape' || event.key === 'Tab') close();
        else if (to !== undefined) entries[(to + entries.length) % entries.length]?.focus();
        else return;
        event.preventDefault();
        event.stopPropagation();
    });
    document.body.append(menu);
    const { width, height } = menu.getBoundingClientRect();
    const left = Math.max(8, Math.min(innerWidth - width - 8, place.left + place.width / 2 - width / 2));
    const below = place.bottom + 6 + height < innerHeight;
    Object.assign(menu.style, {
        left: `${left + scrollX}px`,
        top: `${(below ? place.bottom + 6 : place.top - height - 6) + scrollY}px`,
    });
    document.addEventListener('pointerdown', outside, true);
    addEventListener('resize', close);
    menu.querySelector('button')?.focus({ preventScroll: true });
    return close;
}
