// Rows for the nodes of a beam tree: each branch runs straight on in a row of its own, as near to its parent as there is room.

/** @typedef {import('./types.js').TreeNode} TreeNode */
/** @typedef {TreeNode & {row: number, children: Placed[]}} Placed */

/** Where every hypothesis begins: the API's nodes begin with the first words. */
export const START = -1;

/**
 * The nodes under one beginning, whose step is 0.
 * @param {TreeNode[]} nodes
 * @returns {TreeNode[]}
 */
export function rooted(nodes) {
    const start = {
        id: START,
        parent: null,
        step: 0,
        token: '',
        log_prob: 0,
        score: 0,
        fate: 'lives',
        best: true,
    };
    return [start, ...nodes.map((node) => ({ ...node, parent: node.parent ?? START, step: node.step + 1 }))];
}

/** The returned one first, then what lived, then by score. @param {Placed} a @param {Placed} b */
const order = (a, b) =>
    Number(b.best) - Number(a.best) ||
    Number(a.fate === 'pruned') - Number(b.fate === 'pruned') ||
    b.score - a.score;

/**
 * @param {TreeNode[]} nodes
 * @param {boolean} withPruned
 * @returns {{nodes: Placed[], rows: number}}
 */
export function place(nodes, withPruned) {
    const kept = nodes.filter((node) => withPruned || node.best || node.fate !== 'pruned');
    /** @type {Map<number, Placed>} */
    const byId = new Map(kept.map((node) => [node.id, { ...node, row: 0, children: [] }]));
    /** @type {Placed[]} */
    const roots = [];
    for (const node of byId.values())
        (node.parent === null ? roots : (byId.get(node.parent)?.children ?? [])).push(node);
    for (const node of byId.values()) node.children.sort(order);
    /** @type {boolean[][]} taken[row][step] */
    const taken = [];
    for (const root of roots) branch(root, 0, taken);
    return { nodes: [...byId.values()], rows: taken.length };
}

/** @param {Placed} first @param {number} above the row to begin at @param {boolean[][]} taken */
function branch(first, above, taken) {
    const chain = [first];
    for (let next = first.children[0]; next; next = next.children[0]) chain.push(next);
    const from = first.step,
        to = /** @type {Placed} */ (chain.at(-1)).step;
    let row = above;
    while (taken[row]?.slice(Math.max(0, from - 1), to + 1).some(Boolean)) row++;
    while (taken.length <= row) taken.push([]);
    for (let step = from; step <= to; step++) /** @type {boolean[]} */ (taken[row])[step] = true;
    for (const node of chain) node.row = row;
    // The last first: late branches stay near, so that their lines cross nothing.
    for (const node of chain.reverse())
        for (const child of node.children.slice(1)) branch(child, row + 1, taken);
}

/** The tokens from the root to a node. @param {TreeNode[]} nodes @param {TreeNode} node */
export function path(nodes, node) {
    const byId = new Map(nodes.map((one) => [one.id, one]));
    const tokens = [];
    for (
        let at = /** @type {TreeNode | undefined} */ (node);
        at && at.parent !== null;
        at = byId.get(at.parent)
    )
        tokens.unshift(at.token);
    return tokens;
}
