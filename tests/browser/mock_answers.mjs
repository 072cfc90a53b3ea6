// The answers of the mock server, each from the toy of mock_model.mjs.
import { hash, softmax } from './mock_model.mjs';

/** An error that becomes an HTTP answer. */
export class Refusal extends Error {
    constructor(status, code, message) {
        super(message);
        this.status = status;
        this.code = code;
    }
}

const KNOWN = ['remove', 'force', 'row', 'uniform', 'hard', 'temperature', 'remove-head', 'state'];

/** `key=a,b` as lists by key. */
function lists(text) {
    const found = {};
    let last = '';
    for (const part of text.split(',')) {
        const [, key, value = part] = /^([a-z]+)=(.*)$/u.exec(part) ?? [];
        last = key ?? last;
        (found[last] ??= []).push(value);
    }
    return found;
}

function parse(spec) {
    const [, action, text = '', where = ''] = /^([a-z-]+)(?::([^@]*))?(?:@(.*))?$/u.exec(spec) ?? [];
    if (!KNOWN.includes(action))
        throw new Refusal(
            400,
            'bad_request',
            `interventions: no action is called "${action ?? spec}"; for example remove:src=3@step=5`,
        );
    return { action, text, given: lists(text), where: lists(where) };
}

function applies({ where }, site, step) {
    const among = (list, value) => list === undefined || list[0] === 'all' || list.includes(String(value));
    const head = `${site.layer}.${site.head}`;
    return (
        (where.site?.[0] ?? 'cross') === site.site &&
        among(where.layer, site.layer) &&
        among(where.head, head) &&
        among(where.step, step)
    );
}

/** The sentence, with a word of another one where an encoder state is taken from there. */
function readUnder(model, text, specs) {
    const state = specs.find((spec) => spec.action === 'state');
    if (!state) return model.read(text);
    const words = text.split(/\s+/u);
    words[Number(state.given.src[0])] = state.given.text.join(',').split(/\s+/u)[Number(state.given.from[0])];
    return { ...model.read(words.join(' ')), source: model.read(text).source };
}

/** The weights of a row under the interventions. */
function edited(scores, specs, site, step) {
    let weights = softmax(scores);
    for (const spec of specs.filter((one) => applies(one, site, step))) {
        const isNamed = (j) => spec.given.src?.includes(String(j));
        if (spec.action === 'remove') weights = weights.map((w, j) => (isNamed(j) ? 0 : w));
        if (spec.action === 'force') weights = weights.map((_, j) => (isNamed(j) ? 1 : 0));
        if (spec.action === 'row') weights = weights.map((_, j) => Number(spec.text.split(',')[j] ?? 0));
        if (spec.action === 'uniform') weights = weights.map(() => 1 / weights.length);
        if (spec.action === 'hard') weights = weights.map((w) => (w === Math.max(...weights) ? 1 : 0));
        if (spec.action === 'temperature')
            weights = softmax(scores.map((score) => score / Number(spec.text)));
        if (spec.action === 'remove-head') weights = weights.map(() => 0);
        const sum = weights.reduce((a, b) => a + b, 0);
        if (spec.action === 'remove' && sum > 0) weights = weights.map((w) => w / sum);
    }
    return weights;
}

/** What the decoder reads with at a step: the mean of the heads of the last layer. */
function reading(model, read, specs, step) {
    const cross = model.sites.filter((site) => site.site === 'cross');
    if (cross.length === 0) return null;
    const last = Math.max(...cross.map((site) => site.layer));
    const rows = cross
        .filter((site) => site.layer === last)
        .map((site) => edited(model.scores(read, site, step), specs, site, step));
    return rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
}

const believes = (model, read, specs, step) =>
    model.distribution(read, step, reading(model, read, specs, step));
const words = (tokens) => tokens.filter((token) => token !== '</s>').join(' ');

/** Beam search that keeps every node, `prefix` being forced. */
function search(model, body) {
    const specs = (body.interventions ?? []).map(parse);
    if (specs.length > 0 && model.sites.length === 0)
        throw new Refusal(
            400,
            'bad_request',
            'interventions: this model has one vector and nothing to look at',
        );
    const read = readUnder(model, body.text, specs);
    const prefix = (body.prefix ?? '').split(/\s+/u).filter(Boolean);
    const size = body.beam_size ?? 5;
    const nodes = [];
    let live = [{ node: { id: null }, tokens: [], logs: [] }];
    const ended = [];
    for (let step = 0; step < read.parts.length + 3 && live.length > 0; step++) {
        const p = [...believes(model, read, specs, step)].sort((a, b) => b[1] - a[1]);
        const next = prefix[step]
            ? [[prefix[step], p.find(([token]) => token === prefix[step])?.[1] ?? 1e-4]]
            : p.slice(0, size);
        const grown = live
            .flatMap((from) =>
                next.map(([token, probability]) => {
                    const logs = [...from.logs, Math.log(probability)];
                    const score = logs.reduce((a, b) => a + b, 0) / logs.length;
                    return { from, tokens: [...from.tokens, token], logs, score };
                }),
            )
            .sort((a, b) => b.score - a.score);
        live = [];
        grown.forEach((one, rank) => {
            const kept = rank < size;
            const fate = !kept ? 'pruned' : one.tokens.at(-1) === '</s>' ? 'ends' : 'lives';
            const reason = kept ? undefined : `the beam of ${size} was full of better ones`;
            one.node = {
                id: nodes.length,
                parent: one.from.node.id,
                step,
                token: one.tokens.at(-1),
                log_prob: one.logs.at(-1),
                score: one.score,
                fate,
                reason,
                best: false,
            };
            nodes.push(one.node);
            if (fate === 'lives') live.push(one);
            if (fate === 'ends') ended.push(one);
        });
        if (ended.length >= size) break;
    }
    ended.sort((a, b) => b.score - a.score);
    for (let node = ended[0]?.node; node; node = nodes[node.parent]) node.best = true;
    return { read, specs, nodes, ended };
}

export function translate(model, body) {
    const { read, specs, ended } = search(model, body);
    const translations = ended.slice(0, body.n_best ?? 5).map(({ tokens, logs, score }) => {
        const attention =
            model.sites.length > 0 ? tokens.map((_, i) => reading(model, read, specs, i)) : undefined;
        const alignment = attention?.map((row, i) => [row.indexOf(Math.max(...row)), i]);
        const log_prob = logs.reduce((a, b) => a + b, 0);
        return {
            text: words(tokens),
            tokens: tokens.filter((token) => token !== '</s>'),
            score,
            log_prob,
            length: tokens.length,
            finished: true,
            token_log_probs: logs,
            alignment,
            attention,
        };
    });
    return { source_tokens: read.source, translations };
}

function site(model, read, at, length) {
    const columns = at.site === 'decoder_self' ? length : read.source.length;
    const rows = at.site === 'encoder_self' ? read.source.length : length;
    const scores = Array.from({ length: rows }, (_, i) => model.scores(read, at, i));
    const pad = (row, value) => [...row, ...Array(columns - row.length).fill(value)];
    return {
        ...at,
        weights: scores.map((row) => pad(softmax(row), 0)),
        scores: scores.map((row) => pad(row, null)),
    };
}

function distances(before, after) {
    const keys = [...new Set([...before.keys(), ...after.keys()])];
    const [p, q] = [before, after].map((one) => keys.map((key) => one.get(key) ?? 0));
    const part = (a, m) => (a > 0 ? a * Math.log(a / m) : 0);
    const tvd = p.reduce((sum, a, k) => sum + Math.abs(a - q[k]), 0) / 2;
    const jsd = p.reduce((sum, a, k) => sum + (part(a, (a + q[k]) / 2) + part(q[k], (a + q[k]) / 2)) / 2, 0);
    return { tvd, jsd };
}

export function look(model, body) {
    const found = search(model, { ...body, interventions: [] });
    const { read } = found;
    const tokens =
        body.target === undefined
            ? found.ended[0].tokens
            : [...body.target.split(/\s+/u).filter(Boolean), '</s>'];
    const log = (p, token) => Math.log(p.get(token) ?? 1e-6);
    const beliefs = tokens.map((_, i) => believes(model, read, [], i));
    const token_log_probs = tokens.map((token, i) => log(beliefs[i], token));
    const answer = {
        source_tokens: read.source,
        target_tokens: tokens,
        source_unknown: [],
        target_unknown: [],
        text: words(tokens),
        log_prob: token_log_probs.reduce((a, b) => a + b, 0),
        token_log_probs,
        sites: model.sites.map((at) => site(model, read, at, tokens.length)),
    };
    if (!body.interventions?.length) return answer;
    const after = search(model, body);
    const best = after.ended[0].tokens;
    const change = [...best, ...tokens].findIndex(
        (_, i) => best[i] !== tokens[i] && i < Math.max(best.length, tokens.length),
    );
    const steps = tokens.map((token, i) => {
        const changed = believes(model, after.read, after.specs, i);
        return {
            token,
            log_prob: token_log_probs[i],
            log_prob_after: log(changed, token),
            ...distances(beliefs[i], changed),
        };
    });
    return {
        ...answer,
        intervention: {
            spec: body.interventions,
            text: words(best),
            target_tokens: best,
            first_change: change < 0 ? null : change,
            steps,
        },
    };
}

/** Made up: a word is owed to what lies nearest, the more so the smaller the model's number of heads. */
export function attribution(model, body) {
    const { source_tokens, target_tokens, text } = look(model, body);
    const near = model.sites.length + 1;
    const source = target_tokens.map((_, i) => source_tokens.map((_, j) => near / (near + Math.abs(i - j))));
    return { source_tokens, target_tokens, text, method: body.method, definition: 'made up', source, target: [] };
}

export const tree = (model, body) => ({ nodes: search(model, body).nodes });

export function curve(model) {
    if (model.kind === 'transformer')
        throw new Refusal(
            404,
            'no_curve',
            `no length curve is stored with ${model.name}; make one with regard demo`,
        );
    const score = (from) => (model.kind === 'fixed_vector' ? 100 * Math.exp(-from / 11) : 99.5 - from / 10);
    const by_length = [3, 7, 11, 15, 19, 25].map((from, i, all) => {
        const value = score(from);
        return {
            from,
            to: (all[i + 1] ?? 32) - 1,
            lines: 40,
            score: value,
            low: value - 2.5,
            high: Math.min(100, value + 2.5),
        };
    });
    return {
        system: model.name,
        signature: 'nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:mock',
        by_length,
    };
}

export function audit(model, sentences) {
    const test = (name, value, baseline, definition) => ({
        name,
        site: 'cross',
        value,
        low: value - 0.04,
        high: value + 0.04,
        baseline,
        definition,
    });
    const spread = hash(model.name, 'audit') / 10;
    return {
        model: model.name,
        sentences,
        steps: sentences * 8,
        settings: { seed: 1, permutations: 100, interval: '95 %, bootstrap over sentences' },
        tests: [
            test(
                'permutation',
                0.61 + spread,
                0,
                'median total variation distance of the next-token distribution over 100 permutations of the weights',
            ),
            test(
                'kendall tau-b, gradient × input',
                0.47 + spread,
                0.01,
                'rank correlation of the weights and |Σ gradient × input| over source positions',
            ),
            test(
                'comprehensiveness',
                0.72 + spread,
                0.11,
                'fall of the token’s probability without the most attended position',
            ),
            test(
                'sufficiency',
                0.12 + spread,
                0.58,
                'fall of the token’s probability with the most attended position alone',
            ),
            test(
                'adversarial distance',
                0.08 + spread,
                0.69,
                'largest Jensen-Shannon distance of weights that leave the output within 0.05',
            ),
        ],
        verdict:
            'The attention of this model is load-bearing: permuting its weights changes the next word in most steps, and few other weights give the same output.',
        limits: [
            'Measured on short sentences of one grammar.',
            'Intervals are over sentences, not over training runs.',
        ],
    };
}
