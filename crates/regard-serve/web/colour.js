// One ramp for weights. Light: the ramp of the pictures that `regard look` makes. Dark: its counterpart on dark paper. Both are
// equal steps of lightness in OKLab within one hue, so that equal differences look equal, in grey and in every kind of
// colour blindness.

/** @typedef {[number, number, number]} Rgb */

/** @type {Rgb[]} */
const LIGHT = [
    [248, 250, 253],
    [207, 230, 255],
    [170, 208, 253],
    [137, 186, 246],
    [109, 163, 234],
    [84, 140, 218],
    [65, 118, 198],
    [49, 96, 174],
    [37, 76, 148],
    [27, 57, 118],
    [20, 40, 87],
];

/** L = 0.235 + 0.70 t, C = 0.012 + 0.40 t (1 − t) + 0.02 t, hue 262° to 230°. @type {Rgb[]} */
const DARK = [
    [27, 30, 36],
    [31, 47, 72],
    [34, 66, 107],
    [36, 86, 138],
    [40, 107, 167],
    [51, 129, 191],
    [69, 152, 212],
    [95, 175, 228],
    [129, 198, 240],
    [168, 219, 247],
    [213, 238, 251],
];

/** Okabe and Ito's colours for the lines of charts, with partners that stand out on dark paper. */
const LINES = { light: ['#0072b2', '#d55e00', '#009e73'], dark: ['#56b4e9', '#f0883e', '#2cc79a'] };

export const isDark = () =>
    getComputedStyle(document.documentElement).getPropertyValue('--dark').trim() === '1';

/**
 * The colour of a weight from 0 to 1.
 * @param {number} weight
 * @param {boolean} dark
 * @returns {Rgb}
 */
export function ramp(weight, dark) {
    const stops = dark ? DARK : LIGHT;
    const position = Math.min(1, Math.max(0, weight)) * (stops.length - 1);
    const below = Math.min(Math.floor(position), stops.length - 2);
    const part = position - below;
    const [a, b] = [/** @type {Rgb} */ (stops[below]), /** @type {Rgb} */ (stops[below + 1])];
    const mix = (/** @type {0 | 1 | 2} */ c) => Math.round(a[c] + (b[c] - a[c]) * part);
    return [mix(0), mix(1), mix(2)];
}

/** @param {Rgb} colour */
export const css = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

/** Ink or paper: what reads better on `colour`, by WCAG's luminance. @param {Rgb} colour */
export function textOn(colour) {
    const linear = (/** @type {number} */ c) =>
        c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.map(linear);
    const luminance =
        0.2126 * /** @type {number} */ (r) +
        0.7152 * /** @type {number} */ (g) +
        0.0722 * /** @type {number} */ (b);
    return luminance > 0.18 ? '#10151f' : '#ffffff';
}

/** The colour of line `index` of a chart. @param {number} index */
export function line(index) {
    const colours = LINES[isDark() ? 'dark' : 'light'];
    return /** @type {string} */ (colours[index % colours.length]);
}
