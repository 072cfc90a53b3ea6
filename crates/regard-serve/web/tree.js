// The beam tree: left to right, as wide as the score, what was pruned faint; a chosen node shows its candidates.
import { button, fill, h, svg } from './dom.js';
import { onResize, width } from './measure.js';
import { signed } from './numbers.js';
import { path, place, rooted } from './tree_layout.js';
import { textOf, visible } from './words.js';

/** @typedef {import('./types.js').TreeNode} TreeNode */
/** @typedef {import('./tree_layout.js').Placed} Placed */

const FONT = 15;
const ROW = 26;

/** @type {Record<string, string>} */
const FATES = { lives: 'lives on', ends: 'ended', cut: 'cut', pruned: 'pruned' };

export class Tree {
    /** @param {{choose: (node: TreeNode) => void}} options */
    constructor(options) {
        this.options = options;
        /** @type {TreeNode[]} */
        this.nodes = [];
        this.withPruned = true;
        /** @type {number | null} */
        this.selected = null;
        const box = h('input', {
            type: 'checkbox',
            checked: true,
            onchange: () => ((this.withPruned = box.checked), this.draw()),
        });
        this.picture = h('div', { class: 'scroll tree-scroll' });
        this.element = h(
            'div',
            { class: 'tree' },
            this.picture,
            h(
                'p',
                { class: 'legend' },
                h('span', { class: 'key best' }, 'returned'),
                h('span', { class: 'key lives' }, 'lives on'),
                h('span', { class: 'key ends' }, 'ended'),
                h('span', { class: 'key pruned' }, 'pruned'),
                h('label', { class: 'check' }, box, ' show what was pruned'),
            ),
        );
        this.element.addEventListener('keydown', (event) => this.key(event));
        this.close = onResize(this.picture, () => this.draw());
    }

    /** @param {TreeNode[]} nodes */
    show(nodes) {
        this.nodes = rooted(nodes);
        this.selected = null;
        this.draw();
    }

    draw() {
        const { nodes, rows } = place(this.nodes, this.withPruned);
        if (nodes.length === 0) return fill(this.picture);
        this.placed = nodes;
        const steps = Math.max(...nodes.map((node) => node.step));
        const widest = Math.min(130, Math.max(...nodes.map((node) => width(label(node), FONT))));
        const room = this.picture.clientWidth - 24;
        const column = Math.max(widest + 26, Math.min(widest + 52, room / (steps + 1)));
        const x = (/** @type {Placed} */ node) => 8 + node.step * column,
            y = (/** @type {Placed} */ node) => 18 + node.row * ROW;
        const best = Math.max(...nodes.filter((node) => node.parent !== null).map((node) => node.score));
        const byId = new Map(nodes.map((node) => [node.id, node]));
        const edge = (/** @type {Placed} */ node) => {
            const parent = node.parent === null ? undefined : byId.get(node.parent);
            if (!parent) return null;
            const from = x(parent) + width(label(parent), FONT) + 8,
                to = x(node) - 5,
                turn = to - 26;
            const d = `M${from} ${y(parent)} H${Math.max(from, turn)} C${turn + 16} ${y(parent)} ${turn + 8} ${y(node)} ${to} ${y(node)}`;
            return svg('path', {
                class: `edge ${kind(node)}`,
                d,
                'stroke-width': Math.max(0.8, 5 * Math.exp(1.6 * (node.score - best))),
            });
        };
        const root = svg(
            'svg',
            {
                width: 16 + (steps + 1) * column,
                height: 18 + rows * ROW,
                role: 'group',
                'aria-label': 'Beam tree; arrow keys move, Enter shows candidates',
            },
            nodes.map(edge),
            nodes.map((node) => this.word(node, x(node), y(node))),
        );
        fill(this.picture, root);
        return undefined;
    }

    /** @param {Placed} node @param {number} x @param {number} y */
    word(node, x, y) {
        const reason = node.reason ? `, ${node.reason}` : '';
        const said = `${label(node)}, step ${node.step}, score ${signed(node.score)}, ${node.best ? 'returned' : (FATES[node.fate] ?? node.fate)}${reason}`;
        const first = this.selected === null ? node.parent === null : node.id === this.selected;
        const choose = () => this.choose(node.id);
        const text = svg(
            'text',
            {
                x,
                y,
                dy: '.33em',
                class: `label ${kind(node)}${node.id === this.selected ? ' own' : ''}`,
                tabindex: first ? 0 : -1,
                role: 'button',
                'aria-label': said,
                'data-id': node.id,
                'font-size': FONT,
                onclick: choose,
            },
            label(node),
        );
        text.append(svg('title', {}, said));
        return text;
    }

    /** @param {number} id */
    choose(id) {
        const node = this.nodes.find((one) => one.id === id);
        if (!node) return;
        this.selected = id;
        for (const text of this.picture.querySelectorAll('.label')) {
            const own = Number(/** @type {SVGElement} */ (text).dataset.id) === id;
            text.classList.toggle('own', own);
            text.setAttribute('tabindex', own ? '0' : '-1');
        }
        this.options.choose(node);
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        const id = Number(/** @type {HTMLElement} */ (event.target).dataset.id ?? NaN);
        const node = this.placed?.find((one) => one.id === id);
        if (!node) return;
        const level = (this.placed ?? [])
            .filter((one) => one.step === node.step)
            .sort((a, b) => a.row - b.row);
        const at = level.indexOf(node);
        const next = {
            ArrowLeft: this.placed?.find((one) => one.id === node.parent),
            ArrowRight: node.children[0],
            ArrowUp: level[at - 1],
            ArrowDown: level[at + 1],
            Enter: node,
            ' ': node,
        }[event.key];
        if (!next) return;
        event.preventDefault();
        event.stopPropagation();
        if (next === node) return this.choose(node.id);
        /** @type {SVGElement | null} */ (this.picture.querySelector(`[data-id="${next.id}"]`))?.focus();
        return undefined;
    }
}

/** @param {TreeNode} node */
const label = (node) => (node.parent === null ? '⟨start⟩' : visible(node.token));

/** @param {TreeNode} node */
const kind = (node) => (node.best ? 'best' : node.fate);

/**
 * The panel of a chosen node: how it came about, its candidates, and going on from it.
 * @param {HTMLElement} place
 * @param {TreeNode[]} nodes
 * @param {TreeNode | null} node
 * @param {(prefix: string) => void} go
 */
export function showCandidates(place, nodes, node, go) {
    if (!node)
        return fill(
            place,
            h('p', { class: 'hint' }, 'Choose a word of the tree to see what could have followed it.'),
        );
    const children = nodes.filter((one) => one.parent === node.id).sort((a, b) => b.log_prob - a.log_prob);
    const prefix = textOf(path(nodes, node));
    const row = (/** @type {TreeNode} */ one) =>
        h(
            'tr',
            { class: kind(one), title: one.reason },
            h('th', { scope: 'row' }, visible(one.token)),
            h('td', {}, Math.exp(one.log_prob).toFixed(2)),
            h('td', {}, signed(one.score)),
            h('td', {}, one.best ? 'returned' : (FATES[one.fate] ?? one.fate)),
        );
    const ended = node.fate === 'ends' || node.token === '</s>';
    return fill(
        place,
        h('h2', {}, label(node)),
        h(
            'p',
            { class: 'verb' },
            node.reason
                ? `${FATES[node.fate] ?? node.fate}: ${node.reason}`
                : node.best
                  ? 'on the path that was returned'
                  : (FATES[node.fate] ?? node.fate),
        ),
        children.length > 0
            ? h(
                  'table',
                  { class: 'candidates' },
                  h('caption', {}, 'Its candidates'),
                  h(
                      'thead',
                      {},
                      h(
                          'tr',
                          {},
                          ['word', 'p', 'score', 'fate'].map((name) => h('th', { scope: 'col' }, name)),
                      ),
                  ),
                  h('tbody', {}, children.map(row)),
              )
            : h('p', { class: 'hint' }, 'The search did not go on from here.'),
        ended || node.parent === null
            ? null
            : h(
                  'p',
                  {},
                  button('Continue from here', () => go(prefix), { class: 'main' }),
              ),
    );
    return undefined;
}
