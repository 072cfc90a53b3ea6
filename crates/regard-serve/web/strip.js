// The distance of the two next-token distributions at each step, as bars over the words of the original translation.
import { fill, h } from './dom.js';
import { behind } from './table.js';
import { visible } from './words.js';

/**
 * @param {HTMLElement} place
 * @param {import('./types.js').Effect} effect
 */
export function showStrip(place, effect) {
    const bar = (/** @type {import('./types.js').EffectStep} */ step, /** @type {number} */ i) => {
        const first = i === effect.first_change;
        const label = `${visible(step.token)}: total variation distance ${step.tvd.toFixed(3)}${first ? ', the first word that changes' : ''}`;
        return h(
            'li',
            { class: first ? 'first' : null, title: label, 'data-tvd': step.tvd },
            h('span', { class: 'value' }, step.tvd.toFixed(2)),
            h(
                'span',
                { class: 'well' },
                h('span', { class: 'bar', style: { height: `${Math.max(1, step.tvd * 100)}%` } }),
            ),
            h('span', { class: 'word' }, visible(step.token)),
        );
    };
    const rows = effect.steps.map((step) => [
        visible(step.token),
        ...[step.tvd, step.jsd, step.log_prob, step.log_prob_after].map((value) => value.toFixed(4)),
    ]);
    const columns = ['word', 'total variation', 'Jensen–Shannon, nat', 'log-probability', 'after the edit'];
    fill(
        place,
        h('h3', {}, 'How far the belief about each next word moved'),
        h('ol', { class: 'strip' }, effect.steps.map(bar)),
        h(
            'p',
            { class: 'note' },
            'Total variation distance of the two distributions, 0 to 1, both after the words of the original translation.',
        ),
        behind('Distances at each step', columns, rows),
    );
}
