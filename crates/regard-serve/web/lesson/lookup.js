// 3. The lookup by hand: scores, exponentials, their sum, weights, a blend.
import { fill, h } from '../dom.js';
import { argmax, entropy, softmax, total } from '../numbers.js';
import { bars } from '../reading.js';
import { table } from '../table.js';
import { text } from './common.js';

const WORDS = ['the', 'black', 'cat', 'sleeps'];
const SCORES = [1, 3, 0.5, 0];

function open() {
    const scores = [...SCORES];
    const place = h('div', {});
    const show = () => {
        const powers = scores.map(Math.exp);
        const weights = softmax(scores);
        const most = argmax(weights);
        const rows = WORDS.map((word, j) => [
            word,
            (scores[j] ?? 0).toFixed(2),
            (powers[j] ?? 0).toFixed(2),
            (weights[j] ?? 0).toFixed(2),
        ]);
        fill(
            place,
            table(
                'From scores to weights',
                ['', 'score s', 'exp s', 'exp s / sum'],
                [...rows, ['sum', '', total(powers).toFixed(2), total(weights).toFixed(2)]],
            ),
            bars(weights, WORDS),
            h(
                'p',
                { class: 'story', role: 'status', 'data-weights': weights.join(' ') },
                'The context is ',
                h('b', {}, `${Math.round((weights[most] ?? 0) * 100)} per cent`),
                ' the encoder’s state of ',
                h('em', {}, WORDS[most]),
                `; entropy ${entropy(weights).toFixed(2)} nat.`,
            ),
        );
    };
    const field = (/** @type {string} */ word, /** @type {number} */ j) => {
        const input = h('input', {
            type: 'number',
            step: 0.5,
            min: -20,
            max: 20,
            value: scores[j],
            'aria-label': `Score of ${word}`,
        });
        input.addEventListener('input', () => {
            scores[j] = Math.max(-20, Math.min(20, Number(input.value) || 0));
            show();
        });
        return h('label', { class: 'score-field' }, h('span', {}, word), input);
    };
    show();
    return {
        element: h(
            'div',
            {},
            text(
                'Writing ',
                h('em', {}, 'noir'),
                ', the decoder scores each English word against its state. The softmax makes weights of the ',
                'scores, and what the decoder reads is the blend: a lookup that returns a little of ',
                'everything. Give ',
                h('em', {}, 'cat'),
                ' a score of 3 as well: what happens to ',
                h('em', {}, 'black'),
                '?',
            ),
            h('div', { class: 'row fields' }, WORDS.map(field)),
            place,
        ),
    };
}

/** @type {import('./common.js').Step} */
export const step = { title: 'The lookup, by hand', open };
