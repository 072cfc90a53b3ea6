// The arithmetic of the page, as plain functions.

/**
 * exp(s_j / T) / Σ_k exp(s_k / T). A score that is no number is masked and weighs nothing.
 * @param {(number | null)[]} scores
 * @param {number} [temperature]
 * @returns {number[]}
 */
export function softmax(scores, temperature = 1) {
    const usable = scores.map((score) =>
        typeof score === 'number' && Number.isFinite(score) ? score / temperature : -Infinity,
    );
    const top = Math.max(...usable);
    if (top === -Infinity) return usable.map(() => 0);
    const parts = usable.map((score) => Math.exp(score - top));
    const sum = total(parts);
    return parts.map((part) => part / sum);
}

/** @param {number[]} values */
export const total = (values) => values.reduce((sum, value) => sum + value, 0);

/** @param {number[]} values */
export const mean = (values) => (values.length === 0 ? 0 : total(values) / values.length);

/**
 * −Σ w ln w, in nats.
 * @param {number[]} weights
 */
export const entropy = (weights) => total(weights.map((w) => (w > 0 ? -w * Math.log(w) : 0)));

/** @param {number[]} values */
export const argmax = (values) =>
    values.reduce((best, value, i) => (value > /** @type {number} */ (values[best]) ? i : best), 0);

/**
 * The mean of matrices of one shape.
 * @param {number[][][]} matrices
 * @returns {number[][]}
 */
export function meanMatrix(matrices) {
    const [first] = matrices;
    if (!first) return [];
    return first.map((row, i) => row.map((_, j) => mean(matrices.map((matrix) => matrix[i]?.[j] ?? 0))));
}

/**
 * Equally spread numbers in [0, 1): the mulberry32 generator, so that a seed means the same everywhere.
 * @param {number} seed
 * @returns {() => number}
 */
export function random(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let value = Math.imul(state ^ (state >>> 15), 1 | state);
        value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
        return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
    };
}

/**
 * Numbers of the standard normal distribution, by Box and Muller's method.
 * @param {number} seed
 * @returns {() => number}
 */
export function normal(seed) {
    const uniform = random(seed);
    return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** A weight as text: `.79`, `1`, `0`. @param {number} weight */
export function short(weight) {
    if (weight >= 0.995) return '1';
    return weight < 0.005 ? '0' : weight.toFixed(2).slice(1);
}

/**
 * A number that may be negative, with a true minus sign: two decimals, four where it is small.
 * @param {number | null | undefined} value
 */
export function signed(value) {
    if (value === null || value === undefined || !Number.isFinite(value)) return '–';
    const text = Math.abs(value).toFixed(Math.abs(value) < 0.1 ? 4 : 2);
    return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}
