// Why dot products are divided by √d: the entropy of the softmax as vectors grow.
import { entropy, mean, normal, softmax } from '../numbers.js';

export const KEYS = 10;
const DRAWS = 60;
export const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/**
 * Mean entropy in nats of softmax(q·k) and softmax(q·k / √d) over ten keys, all entries standard normal.
 * @param {number} d
 * @param {number} seed
 */
export function entropies(d, seed) {
    const next = normal(seed * 1000 + d);
    const draws = Array.from({ length: DRAWS }, () => {
        const query = Array.from({ length: d }, next);
        const scores = Array.from({ length: KEYS }, () => query.reduce((sum, q) => sum + q * next(), 0));
        return { plain: entropy(softmax(scores)), scaled: entropy(softmax(scores, Math.sqrt(d))) };
    });
    return { plain: mean(draws.map((one) => one.plain)), scaled: mean(draws.map((one) => one.scaled)) };
}

const WIDTH = 24;
export const DISTANCES = [0, 1, 2, 4, 8, 12, 16, 24, 32];

/** @param {number} size @param {number} gain @param {() => number} next */
const randomMatrix = (size, gain, next) =>
    Array.from({ length: size }, () => Array.from({ length: size }, () => (gain * next()) / Math.sqrt(size)));

/** @param {number[][]} a @param {number[]} x */
const times = (a, x) => a.map((row) => row.reduce((sum, value, j) => sum + value * (x[j] ?? 0), 0));

/**
 * How much of the last state's gradient reaches the word `distance` before it, relative to distance 0: ‖∂h_T/∂x_{T−k}‖ in a
 * recurrent network h_t = tanh(W h_{t−1} + x_t), and in one layer of self-attention o_T = Σ_j w_j V x_j with the weights held.
 * Random weights of 24 units, W with a gain of 1, 33 random words.
 * @param {number} seed
 */
export function gradients(seed) {
    const next = normal(seed * 7919);
    const last = DISTANCES.at(-1) ?? 0;
    const recurrent = randomMatrix(WIDTH, 1, next);
    const inputs = Array.from({ length: last + 1 }, () => Array.from({ length: WIDTH }, () => 0.5 * next()));
    /** @type {number[][]} */
    const states = [];
    for (const input of inputs) {
        const before = states.at(-1) ?? new Array(WIDTH).fill(0);
        states.push(times(recurrent, before).map((value, i) => Math.tanh(value + (input[i] ?? 0))));
    }
    // A random direction is carried back from the last state: g ← Wᵀ (g ⊙ (1 − h²)).
    const slope = (/** @type {number} */ t, /** @type {number[]} */ g) =>
        g.map((value, i) => value * (1 - (states[t]?.[i] ?? 0) ** 2));
    const turned = recurrent.map((_, i) => recurrent.map((row) => row[i] ?? 0));
    let g = Array.from({ length: WIDTH }, next);
    const norms = [];
    for (let t = last; t >= 0; t--) {
        const local = slope(t, g);
        norms.push(Math.hypot(...local));
        g = times(turned, local);
    }
    const query = inputs[last] ?? [];
    const weights = softmax(
        inputs.map((input) => input.reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0)),
        Math.sqrt(WIDTH),
    );
    const relative = (/** @type {number[]} */ values) =>
        DISTANCES.map((k) => (values[k] ?? 0) / (values[0] || 1));
    return { recurrent: relative(norms), attention: relative([...weights].reverse()) };
}
