// The temperature: a logarithmic slider from 0.2 to 4, and the switch between drawing the weights anew and asking the model again.
import { choice, fill, h } from './dom.js';
import { COLDEST, HOTTEST } from './state.js';

const STEPS = 200;
/** The model is asked again only when the slider has rested so long, in milliseconds. */
const PAUSE = 200;
const RANGE = Math.log(HOTTEST / COLDEST);

/** @param {number} temperature */
export const toStep = (temperature) => Math.round((Math.log(temperature / COLDEST) / RANGE) * STEPS);

/** Two figures, and 1 near 1, so that "unchanged" can be found by hand. @param {number} step */
export function fromStep(step) {
    const value = COLDEST * Math.exp((step / STEPS) * RANGE);
    return Math.abs(value - 1) < 0.02 ? 1 : Number(value.toPrecision(2));
}

/**
 * @param {number} temperature
 * @param {(temperature: number) => void} changed
 */
export function slider(temperature, changed) {
    const said = h('output', {});
    const input = h('input', { type: 'range', min: 0, max: STEPS, step: 1, 'aria-label': 'Temperature' });
    const say = (/** @type {number} */ value) => {
        said.textContent = value.toFixed(2);
        input.setAttribute('aria-valuetext', value.toFixed(2));
    };
    const set = (/** @type {number} */ value) => {
        input.value = String(toStep(value));
        say(value);
    };
    input.addEventListener('input', () => {
        const value = fromStep(Number(input.value));
        say(value);
        changed(value);
    });
    set(temperature);
    return {
        element: h('label', { class: 'slider' }, h('span', {}, 'temperature'), input, said),
        input,
        set,
    };
}

/**
 * The slider and the switch. The slider stays the same element, so that it can be dragged while the page follows.
 * @param {import('./types.js').App} app
 */
export function temperatureControls(app) {
    const modes = /** @type {[string, string][]} */ ([
        ['redraw', 'redraw the weights'],
        ['decode', 'decode again'],
    ]);
    const place = h('div', {});
    let timer = 0;
    const heat = slider(app.state.temperature, (temperature) => {
        clearTimeout(timer);
        timer = setTimeout(() => app.set({ temperature }), app.state.mode === 'decode' ? PAUSE : 0);
    });
    const update = () => {
        const { temperature, mode } = app.state;
        if (temperature !== fromStep(Number(heat.input.value)) && document.activeElement !== heat.input)
            heat.set(temperature);
        fill(
            place,
            choice('What the temperature does', modes, mode, (value) =>
                app.set({ mode: value === 'decode' ? 'decode' : 'redraw' }),
            ),
        );
    };
    update();
    return { element: h('div', { class: 'temperature' }, heat.element, place), update };
}
