// BLEU of a few sentences: tokens at spaces, n-grams of 1 to 4, one reference, no smoothing.

/** @param {string[]} words @param {number} n */
function grams(words, n) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (let i = 0; i + n <= words.length; i++) {
        const gram = words.slice(i, i + n).join(' ');
        counts.set(gram, (counts.get(gram) ?? 0) + 1);
    }
    return counts;
}

/**
 * 100 · min(1, exp(1 − r/h)) · (Π p_n)^¼, where p_n are the clipped precisions summed over all sentences (Papineni et al. 2002).
 * @param {[string, string][]} pairs translation and reference
 */
export function bleu(pairs) {
    const matches = [0, 0, 0, 0],
        totals = [0, 0, 0, 0];
    let given = 0,
        wanted = 0;
    for (const [translation, reference] of pairs) {
        const words = translation.split(' ').filter(Boolean),
            right = reference.split(' ').filter(Boolean);
        given += words.length;
        wanted += right.length;
        for (let n = 1; n <= 4; n++) {
            const known = grams(right, n);
            for (const [gram, count] of grams(words, n)) {
                totals[n - 1] = (totals[n - 1] ?? 0) + count;
                matches[n - 1] = (matches[n - 1] ?? 0) + Math.min(count, known.get(gram) ?? 0);
            }
        }
    }
    if (matches.some((count) => count === 0)) return 0;
    const logs = matches.map((count, k) => Math.log(count / (totals[k] ?? 1)));
    return 100 * Math.exp(Math.min(0, 1 - wanted / given) + logs.reduce((a, b) => a + b, 0) / 4);
}
