// The page's plain functions, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bleu } from '../../crates/regard-serve/web/lesson/bleu.js';
import { chosen, heated } from '../../crates/regard-serve/web/look.js';
import {
    cellEdit,
    parse,
    prefixEdit,
    request,
    rowEdit,
    touched,
} from '../../crates/regard-serve/web/interventions.js';
import { entropy, softmax } from '../../crates/regard-serve/web/numbers.js';
import { fromStep, toStep } from '../../crates/regard-serve/web/temperature.js';
import { START, path, place, rooted } from '../../crates/regard-serve/web/tree_layout.js';
import { changes, direction, group, hasPieces, merge, textOf } from '../../crates/regard-serve/web/words.js';

const near = (got, wanted, by = 1e-12) => assert.ok(Math.abs(got - wanted) <= by, `${got}, not ${wanted}`);

test('softmax, temperature and entropy', () => {
    softmax([1, 3, 0.5, 0]).forEach((w, j) => near(w, [0.10679, 0.78906, 0.06477, 0.03929][j], 1e-4));
    assert.deepEqual(softmax([null, -Infinity]), [0, 0]);
    near(entropy([0.5, 0.5]), Math.LN2);
    const site = { site: 'cross', layer: 0, head: 0, weights: [[0.25, 0.75, 0]] };
    const row = heated(site, 0.5)[0];
    near(row[0], 0.0625 / 0.625, 1e-9);
    assert.equal(row[2], 0);
    assert.equal(heated(site, 1)[0], site.weights[0]);
});

test('words from pieces, and their weights', () => {
    const bpe = ['un@@', 'seen', 'cat', '</s>'],
        sentencepiece = ['▁un', 'seen', '▁cat', '</s>'];
    for (const tokens of [bpe, sentencepiece]) {
        assert.deepEqual(group(tokens, 'words'), [
            { text: 'unseen', from: 0, to: 2 },
            { text: 'cat', from: 2, to: 3 },
            { text: '⟨end⟩', from: 3, to: 4 },
        ]);
        assert.equal(group(tokens, 'pieces').length, 4);
        assert.equal(textOf(tokens), 'unseen cat');
        assert.ok(hasPieces(tokens));
    }
    assert.ok(!hasPieces(['the', 'cat', '</s>']));
    const columns = group(['a@@', 'b', 'c'], 'words'),
        rows = group(['x', 'y@@', 'z'], 'words');
    assert.deepEqual(
        merge(
            [
                [0.1, 0.2, 0.7],
                [0.5, 0.5, 0],
                [0, 0.5, 0.5],
            ],
            rows,
            columns,
        ).map((row) => row.map((w) => Number(w.toFixed(6)))),
        [
            [0.3, 0.7],
            [0.75, 0.25],
        ],
    );
});

test('what changed between two sentences', () => {
    const words = (text) => text.split(' ');
    assert.deepEqual(changes(words('le chat noir dort'), words('le chat petit dort')), [
        { before: ['noir'], after: ['petit'], at: 2, to: 2 },
    ]);
    assert.deepEqual(changes(words('le chat dort'), words('le chat noir dort')), [
        { before: [], after: ['noir'], at: 2, to: 2 },
    ]);
    assert.deepEqual(changes(words('a b c'), words('a c')), [{ before: ['b'], after: [], at: 1, to: 1 }]);
    assert.deepEqual(changes(words('a b'), words('a b')), []);
    assert.equal(direction('שלום world'), 'rtl');
    assert.equal(direction('猫 cat'), 'ltr');
});

test('edits as the API takes them', () => {
    const columns = group(['a@@', 'b', 'c', '</s>'], 'words'),
        row = group(['x', 'y@@', 'z'], 'words')[1];
    assert.equal(cellEdit('remove', columns[0], null, ''), 'remove:src=0,1@step=all');
    assert.equal(cellEdit('force', columns[1], row, ',head=1.2'), 'force:src=2@step=1,2,head=1.2');
    const spec = rowEdit(group(['x'], 'words')[0], columns, [1 / 3, 1 / 3, 1 / 3], '');
    const weights = parse(spec).text.split(',').map(Number);
    assert.equal(weights.length, 4);
    near(
        weights.reduce((a, b) => a + b, 0),
        1,
    );
    assert.equal(prefixEdit(['le', 'chat'], 'blanc'), 'prefix:le chat blanc');
    assert.deepEqual(request(['a', 'prefix:le', 'c', 'prefix:la']), {
        interventions: ['a', 'c'],
        prefix: 'la',
    });
});

test('what a specification says', () => {
    assert.deepEqual(parse('remove:src=0,1,renormalise=false@step=2,3,head=1.2'), {
        action: 'remove',
        text: 'src=0,1,renormalise=false',
        given: { src: ['0', '1'], renormalise: ['false'] },
        where: { step: ['2', '3'], head: ['1.2'] },
    });
    const sides = { rows: group(['x', 'y@@', 'z'], 'words'), columns: group(['a@@', 'b', 'c'], 'words') };
    assert.deepEqual(
        [...touched(['remove:src=0,1@step=1,2', 'force:src=2@step=all', 'prefix:a'], sides)],
        ['1,0', ',1'],
    );
    assert.deepEqual([...touched(['row:1,0,0@step=0'], sides)], ['0,0', '0,1']);
});

test('the temperature slider is logarithmic', () => {
    assert.equal(fromStep(0), 0.2);
    assert.equal(fromStep(200), 4);
    assert.equal(fromStep(toStep(1)), 1);
    near(fromStep(100), Math.sqrt(0.8), 0.01);
});

test('heads: a named one, or all of the last layer', () => {
    const sites = [0, 1].flatMap((layer) => [0, 1].map((head) => ({ site: 'cross', layer, head })));
    assert.equal(chosen(sites, { site: 'cross', layer: null, head: null }).length, 2);
    assert.deepEqual(chosen(sites, { site: 'cross', layer: 0, head: 1 }), [
        { site: 'cross', layer: 0, head: 1 },
    ]);
});

test('branches of the tree share no place', () => {
    const node = (id, parent, step, best = false, fate = 'lives') => ({
        id,
        parent,
        step,
        token: String(id),
        log_prob: 0,
        score: -id,
        fate,
        best,
    });
    const nodes = rooted([
        node(1, null, 0, true),
        node(2, null, 0),
        node(3, 1, 1, true),
        node(4, 1, 1, false, 'pruned'),
        node(5, 2, 1),
    ]);
    const { nodes: placed } = place(nodes, true);
    assert.equal(placed.length, 6);
    assert.equal(new Set(placed.map(({ row, step }) => `${row},${step}`)).size, nodes.length);
    assert.ok(placed.filter((one) => one.best).every((one) => one.row === 0));
    assert.equal(placed.find((one) => one.id === START)?.step, 0);
    assert.equal(place(nodes, false).nodes.length, 5);
    assert.deepEqual(path(nodes, nodes[5]), ['2', '5']);
});

test('BLEU of right, wrong and short translations', () => {
    near(bleu([['a b c d e', 'a b c d e']]), 100, 1e-9);
    assert.equal(bleu([['x y z', 'a b c d']]), 0);
    near(bleu([['a b c d', 'a b c d e']]), 100 * Math.exp(1 - 5 / 4), 1e-9);
});
