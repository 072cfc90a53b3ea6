// Making elements in a line each.

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Record<string, any>} Properties */
/** What may stand in an element; lists may hold lists. @typedef {Node | string | number | null | undefined | false | any[]} Child */

/**
 * @param {Element} element
 * @param {Properties} properties `on…` is a listener, `style` an object (never an attribute: the page's policy forbids those)
 */
function assign(element, properties) {
    for (const [name, value] of Object.entries(properties)) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (name === 'style') Object.assign(/** @type {HTMLElement} */ (element).style, value);
        else element.setAttribute(name, value === true ? '' : String(value));
    }
}

/**
 * @param {Node} parent
 * @param {Child[]} children
 */
export function append(parent, children) {
    for (const child of children) {
        if (child === null || child === undefined || child === false) continue;
        if (Array.isArray(child)) append(parent, child);
        else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
    }
}

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Properties} [properties]
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    assign(element, properties);
    append(element, children);
    return element;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Properties} [properties]
 * @param {Child[]} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, properties = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    assign(element, properties);
    append(element, children);
    return element;
}

/** What makes a control the same one after it is drawn anew. @param {Element} element */
const identity = (element) =>
    [
        element.tagName,
        element.getAttribute('aria-label') ??
            element.getAttribute('data-value') ??
            element.getAttribute('data-index') ??
            element.textContent,
    ].join(' ');

/**
 * Puts `children` in the place of all that `parent` holds. A control that had the focus gives it to its successor, so that who
 * works by keyboard is not sent back to the top of the page.
 * @param {Element} parent
 * @param {Child[]} children
 */
export function fill(parent, ...children) {
    const focused =
        document.activeElement !== parent && parent.contains(document.activeElement)
            ? document.activeElement
            : null;
    const sought = focused ? identity(focused) : '';
    parent.replaceChildren();
    append(parent, children);
    if (!focused || focused.isConnected) {
        if (focused instanceof HTMLElement && document.activeElement !== focused)
            focused.focus({ preventScroll: true });
        return;
    }
    const successor = [...parent.querySelectorAll(focused.tagName)].find((one) => identity(one) === sought);
    if (successor instanceof HTMLElement || successor instanceof SVGElement)
        successor.focus({ preventScroll: true });
}

/**
 * A button; `pressed` makes it a switch.
 * @param {string} label
 * @param {() => void} action
 * @param {Properties} [properties]
 */
export function button(label, action, properties = {}) {
    return h('button', { type: 'button', onclick: action, ...properties }, label);
}

/**
 * One of several choices, as a row of buttons of which one is pressed.
 * @param {string} name what is chosen, for screen readers
 * @param {[string, string][]} choices value and label
 * @param {string} value
 * @param {(value: string) => void} choose
 */
export function choice(name, choices, value, choose) {
    const one = (/** @type {[string, string]} */ [key, label]) =>
        button(label, () => choose(key), {
            'aria-pressed': String(key === value),
            class: 'choice',
            'data-value': key,
        });
    return h('div', { class: 'choices', role: 'group', 'aria-label': name }, choices.map(one));
}

/**
 * A labelled list of options.
 * @param {string} label
 * @param {[string, string][]} options value and label
 * @param {string} value
 * @param {(value: string) => void} choose
 */
export function picker(label, options, value, choose) {
    const select = h(
        'select',
        { onchange: () => choose(select.value) },
        options.map(([key, text]) => h('option', { value: key }, text)),
    );
    select.value = value;
    return h('label', { class: 'picker' }, h('span', {}, label), select);
}
