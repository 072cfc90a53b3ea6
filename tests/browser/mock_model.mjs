// A toy translator with the shapes of the API: enough for the page to be worked on and tested without the Rust server.
// Nothing in it is learnt and nothing is random: scores come from a lexicon and from a hash of where they stand.

const NOUNS = {
    cat: ['chat', 'm'],
    dog: ['chien', 'm'],
    bird: ['oiseau', 'm'],
    horse: ['cheval', 'm'],
    rabbit: ['lapin', 'm'],
    hen: ['poule', 'f'],
    frog: ['grenouille', 'f'],
    mouse: ['souris', 'f'],
    cow: ['vache', 'f'],
    garden: ['jardin', 'm'],
    tree: ['arbre', 'm'],
    bed: ['lit', 'm'],
    bridge: ['pont', 'm'],
    chair: ['chaise', 'f'],
    house: ['maison', 'f'],
    street: ['rue', 'f'],
    school: ['école', 'f'],
    river: ['rivière', 'f'],
};
const DETERMINERS = { the: ['le', 'la'], a: ['un', 'une'], this: ['ce', 'cette'], my: ['mon', 'ma'] };
const BEFORE = {
    small: ['petit', 'petite'],
    big: ['grand', 'grande'],
    good: ['bon', 'bonne'],
    pretty: ['joli', 'jolie'],
};
const AFTER = {
    black: ['noir', 'noire'],
    white: ['blanc', 'blanche'],
    green: ['vert', 'verte'],
    red: ['rouge', 'rouge'],
    grey: ['gris', 'grise'],
};
const PLAIN = {
    sleeps: 'dort',
    sings: 'chante',
    runs: 'court',
    dances: 'danse',
    falls: 'tombe',
    laughs: 'rit',
    sees: 'voit',
    follows: 'suit',
    watches: 'regarde',
    likes: 'aime',
    finds: 'trouve',
    on: 'sur',
    in: 'dans',
    under: 'sous',
    toward: 'vers',
    behind: 'derrière',
    and: 'et',
    that: 'qui',
    often: 'souvent',
    always: 'toujours',
};

/** A number in [0, 1) that depends on the arguments alone. */
export function hash(...parts) {
    let value = 2166136261;
    for (const char of parts.join(' ')) value = Math.imul(value ^ char.codePointAt(0), 16777619);
    value = Math.imul(value ^ (value >>> 15), 2246822507);
    return ((value ^ (value >>> 13)) >>> 0) / 4294967296;
}

export function softmax(scores) {
    const top = Math.max(...scores);
    const parts = scores.map((score) => Math.exp(score - top));
    const sum = parts.reduce((a, b) => a + b, 0);
    return parts.map((part) => part / sum);
}

/** What each target word is made from: `{from, role, forms}`, forms being masculine and feminine. */
function plan(words) {
    const parts = [];
    for (let at = 0; at < words.length;) {
        let end = at;
        if (words[end] in DETERMINERS) end++;
        const before = [],
            after = [];
        for (; words[end] in BEFORE || words[end] in AFTER; end++)
            (words[end] in BEFORE ? before : after).push(end);
        if (words[end] in NOUNS) {
            const [noun, gender] = NOUNS[words[end]];
            const part = (from, role, forms) => parts.push({ from, role, forms, noun: end, gender });
            if (words[at] in DETERMINERS) part(at, 'determiner', DETERMINERS[words[at]]);
            for (const j of before) part(j, 'adjective', BEFORE[words[j]]);
            part(end, 'noun', [noun, noun]);
            for (const j of after) part(j, 'adjective', AFTER[words[j]]);
            at = end + 1;
        } else {
            const word = words[at];
            const form =
                PLAIN[word] ?? DETERMINERS[word]?.[0] ?? AFTER[word]?.[0] ?? BEFORE[word]?.[0] ?? word;
            parts.push({ from: at, role: 'plain', forms: [form, form], noun: at, gender: 'm' });
            at++;
        }
    }
    parts.push({ from: words.length, role: 'end', forms: ['</s>', '</s>'], noun: words.length, gender: 'm' });
    return parts;
}

/** One model of the toy: its words for a sentence, where it looks, and what it then believes. */
export class Toy {
    constructor(name, kind) {
        this.name = name;
        this.kind = kind;
        const heads = (site, layers, count) =>
            Array.from({ length: layers * count }, (_, i) => ({
                site,
                layer: Math.floor(i / count),
                head: i % count,
            }));
        this.sites =
            kind === 'attention'
                ? heads('cross', 1, 1)
                : kind === 'transformer'
                  ? [...heads('encoder_self', 2, 4), ...heads('decoder_self', 2, 4), ...heads('cross', 2, 4)]
                  : [];
    }

    describe() {
        const parameters = { fixed_vector: 1204032, attention: 1318209, transformer: 1456640 }[this.kind];
        return {
            name: this.name,
            kind: this.kind,
            source_language: 'en',
            target_language: 'fr',
            parameters,
            attention: this.sites.length > 0,
            sites: this.sites,
        };
    }

    read(text) {
        const words = text.trim().split(/\s+/u).filter(Boolean);
        return { words, source: [...words, '</s>'], parts: plan(words) };
    }

    /** Scores of row `i` at a site, before the softmax. */
    scores(read, site, i) {
        const part = read.parts[Math.min(i, read.parts.length - 1)];
        const own = { encoder_self: i, decoder_self: i, cross: part.from }[site.site];
        const length = site.site === 'decoder_self' ? i + 1 : read.source.length;
        const sharp =
            this.kind === 'attention' ? 4.2 : 1 + 3.5 * hash(this.name, site.site, site.layer, site.head);
        return Array.from({ length }, (_, j) => {
            const noun = site.site === 'cross' && part.role === 'determiner' && j === part.noun ? 2.6 : 0;
            const shift = site.site === 'cross' ? 0 : (site.head % 3) - 1;
            return (
                (j === own + shift ? sharp : 0) +
                noun +
                1.2 * hash(this.name, site.site, site.layer, site.head, i, j)
            );
        });
    }

    /** The next-token distribution at row `i`, from the weights that the decoder read with. */
    distribution(read, i, weights) {
        const part = read.parts[Math.min(i, read.parts.length - 1)];
        const logits = new Map();
        const blur = this.kind === 'fixed_vector' ? Math.max(0.2, 4.5 - 0.38 * read.words.length) : 0;
        for (const other of read.parts) {
            other.forms.forEach((form, g) => {
                const seen = weights
                    ? 7 * (weights[other.from] ?? 0)
                    : (other === part ? blur : 0) + 2 * hash(read.words.join(), i, form);
                const wanted = (part.gender === 'f' ? 1 : 0) === g ? 0.4 : 0;
                const nounSeen = weights ? 2.5 * (weights[part.noun] ?? 0) * (wanted ? 1 : -1) : wanted;
                const same = other.role === part.role ? 2.2 : 0;
                const agrees = other.forms[0] === other.forms[1] ? 1.2 : nounSeen + wanted;
                const ends = (other.role === 'end') === (part.role === 'end') ? 0 : -6;
                logits.set(form, Math.max(logits.get(form) ?? -Infinity, seen + same + agrees + ends));
            });
        }
        const forms = [...logits.keys()];
        return new Map(softmax([...logits.values()]).map((p, k) => [forms[k], p]));
    }
}
