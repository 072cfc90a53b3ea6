// The two runs that are held beside each other: the model as it is, and the model under edits.
import { ask } from './api.js';

/** @typedef {import('./types.js').Translations} Translations */
/** @typedef {import('./types.js').Look} Look */
/** @typedef {{list: Translations, look: Look, target: {target?: string}}} Original */
/** @typedef {{after: Translations, effect: import('./types.js').Effect | undefined}} Edited */

const BEAM = { beam_size: 5 };

/**
 * The n-best list, and the look at the translation that is chosen from it.
 * @param {{model: string, text: string, n: number}} of
 * @param {AbortSignal} signal
 * @returns {Promise<Original>}
 */
export async function original({ model, text, n }, signal) {
    /** @type {Translations} */
    const list = await ask('translate', { model, text, ...BEAM, n_best: 5 }, signal);
    const other = n > 0 ? (list.translations[n] ?? list.translations[0])?.text : undefined;
    const target = other === undefined ? {} : { target: other };
    return { list, look: await ask('look', { model, text, ...target }, signal), target };
}

/**
 * What the model writes under edits, and how far its belief moves on the words of the original.
 * @param {{model: string, text: string}} of
 * @param {Original['target']} target
 * @param {{interventions: string[], prefix?: string | undefined}} edits
 * @param {AbortSignal} signal
 * @returns {Promise<Edited>}
 */
export async function edited({ model, text }, target, { interventions, prefix }, signal) {
    const forced = prefix === undefined ? {} : { prefix };
    const after = await ask(
        'translate',
        { model, text, ...BEAM, n_best: 1, interventions, ...forced },
        signal,
    );
    if (interventions.length === 0) return { after, effect: undefined };
    /** @type {Look} */
    const look = await ask('look', { model, text, ...target, interventions }, signal);
    return { after, effect: look.intervention };
}

/** The beam tree. @param {{model: string, text: string}} of @param {AbortSignal} signal */
export const tree = async ({ model, text }, signal) =>
    (await ask('tree', { model, text, ...BEAM }, signal)).nodes;
