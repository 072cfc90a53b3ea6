// 7. From queries, keys and values to self-attention: one lookup by hand, why it is scaled, and a Transformer's own heads.
import { lineChart } from '../chart.js';
import { button, fill, h, svg } from '../dom.js';
import { multiples } from '../multiples.js';
import { mean, signed, softmax } from '../numbers.js';
import { bars } from '../reading.js';
import { SENTENCE } from '../state.js';
import { Working } from '../working.js';
import { look, missing, modelOf, text } from './common.js';
import { reach } from './reach.js';
import { DISTANCES, SIZES, entropies, gradients } from './saturation.js';

/** @typedef {import('./common.js').App} App */

const WORDS = ['black', 'cat', 'sleeps'];
const KEYS = [
    [2, 0.4],
    [0.8, 1.8],
    [-1.6, 1.2],
];
const SEEDS = 20;

/** Keys as arrows and a query that the reader turns. */
function compass() {
    const place = h('div', { class: 'compass' });
    const input = h('input', {
        type: 'range',
        min: 0,
        max: 180,
        value: 35,
        'aria-label': 'Direction of the query, degrees',
    });
    const arrow = (
        /** @type {number[]} */ [x = 0, y = 0],
        /** @type {string} */ name,
        /** @type {string} */ kind,
    ) =>
        svg(
            'g',
            { class: kind },
            svg('line', { x1: 150, y1: 150, x2: 150 + x * 52, y2: 150 - y * 52 }),
            svg('circle', { cx: 150 + x * 52, cy: 150 - y * 52, r: 4 }),
            svg('text', { x: 150 + x * 64, y: 150 - y * 64, 'text-anchor': 'middle', dy: '.3em' }, name),
        );
    const show = () => {
        const angle = (Number(input.value) * Math.PI) / 180;
        const query = [2 * Math.cos(angle), 2 * Math.sin(angle)];
        const scores = KEYS.map(([x = 0, y = 0]) => (x * (query[0] ?? 0) + y * (query[1] ?? 0)) / Math.SQRT2);
        const weights = softmax(scores);
        fill(
            place,
            svg(
                'svg',
                { width: 300, height: 190, role: 'img', 'aria-label': 'Keys as arrows, and the query' },
                svg('path', { class: 'rim', d: 'M46 150 A104 104 0 0 1 254 150' }),
                KEYS.map((key, j) => arrow(key, WORDS[j] ?? '', 'key')),
                arrow(query, '', 'query'),
                svg('text', { class: 'query-name', x: 150, y: 176, 'text-anchor': 'middle' }, 'query'),
            ),
            h(
                'div',
                {},
                h(
                    'p',
                    { class: 'note', 'data-scores': scores.join(' ') },
                    'scores q·k / √2: ',
                    WORDS.map((word, j) => `${word} ${signed(scores[j])}`).join(', '),
                ),
                bars(weights, WORDS),
            ),
        );
    };
    input.addEventListener('input', show);
    show();
    return h(
        'section',
        {},
        h('h3', {}, 'One query, three keys'),
        h('label', { class: 'slider' }, h('span', {}, 'turn the query'), input),
        place,
    );
}

/** @param {{close: () => void}[]} open */
function charts(open) {
    let seed = 1;
    const place = h('div', { class: 'two' });
    const show = () => {
        const sizes = SIZES.map((d) => entropies(d, seed));
        const runs = Array.from({ length: SEEDS }, (_, k) => gradients(seed * SEEDS + k));
        const average = (/** @type {'recurrent' | 'attention'} */ name) =>
            DISTANCES.map((_, i) => ({ value: mean(runs.map((run) => run[name][i] ?? 0)) }));
        const drawn = [
            lineChart({
                title: 'Entropy of the weights over ten keys, random vectors',
                x: 'size d of the vectors',
                y: 'nats',
                ticks: SIZES.map(String),
                digits: 2,
                top: Math.log(10),
                series: [
                    { name: 'q·k', points: sizes.map(({ plain }) => ({ value: plain })) },
                    { name: 'q·k / √d', points: sizes.map(({ scaled }) => ({ value: scaled })) },
                ],
            }),
            lineChart({
                title: 'Gradient that reaches a word, by its distance; random weights, distance 0 being 1',
                x: 'words between',
                y: 'relative norm',
                ticks: DISTANCES.map(String),
                digits: 2,
                series: [
                    { name: 'recurrent', points: average('recurrent') },
                    { name: 'self-attention', points: average('attention') },
                ],
            }),
        ];
        open.push(...drawn);
        fill(
            place,
            drawn.map((one) => one.element),
        );
    };
    show();
    return h(
        'section',
        {},
        h('h3', {}, 'Why the scores are divided by √d, and what a single step away means'),
        text(
            'Dot products of longer vectors are larger, so that without the division the softmax picks a ',
            'single word and its gradient dies. And what a recurrent network must carry word by word, ',
            'self-attention reads in one step, however far.',
        ),
        h(
            'p',
            { class: 'row' },
            button('Draw new random vectors', () => (seed++, show())),
        ),
        place,
    );
}

/** @param {App} app */
function open(app) {
    const working = new Working();
    /** @type {{close: () => void}[]} */
    const opened = [];
    const heads = h('section', {});
    const model = modelOf(app, 'transformer');
    const load = async () => {
        if (!model) return;
        const seen = await working.run((signal) => look(model.name, SENTENCE, [], signal));
        const choose = (/** @type {number} */ layer, /** @type {number} */ head) =>
            app.set(
                {
                    view: 'translate',
                    model: model.name,
                    text: SENTENCE,
                    figure: 'matrix',
                    site: 'encoder_self',
                    layer,
                    head,
                    at: null,
                    pick: '',
                },
                'push',
            );
        fill(
            heads,
            h('h3', {}, 'The source reads itself: the encoder’s heads in ', h('em', {}, model.name)),
            text('Choose one to walk through it.'),
            multiples(
                seen,
                { ...app.state, site: 'encoder_self', units: 'words', layer: null, head: null },
                choose,
            ),
        );
    };
    load();
    return {
        element: h(
            'div',
            {},
            text(
                'Name the parts: what the decoder asks with is a ',
                h('em', {}, 'query'),
                ', what it is compared with is a ',
                h('em', {}, 'key'),
                ', what is blended is a ',
                h('em', {}, 'value'),
                '. Nothing says that the query must come from the other sentence. Let every word ask every ',
                'word of its own sentence, and you have self-attention; leave out the recurrence, and you ',
                'have a Transformer.',
            ),
            compass(),
            charts(opened),
            reach(app, opened),
            missing(app, ['transformer']),
            working.element,
            heads,
        ),
        close: () => (working.cancel(), opened.forEach((one) => one.close())),
    };
}

/** @type {import('./common.js').Step} */
export const step = { title: 'From query, key and value to self-attention', open };
