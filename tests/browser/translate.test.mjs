// Translate: every action of the view, its numbers held against the API's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Harness, SENTENCE, close, matrixIn, shown, signed, softmax, words, written } from './harness.mjs';

let harness;
before(async () => (harness = await Harness.open()));
after(() => harness.close());

const LINES = '.sentences > .target';
const TABLE = '.figure .behind table';

test('the sentence is translated, with the scores of the n-best list', async () => {
    const { page, done } = await harness.page();
    await page.waitForSelector(`${LINES} .word`);
    const { translations } = await harness.api('translate', {
        model: 'attention',
        text: SENTENCE,
        beam_size: 5,
        n_best: 5,
    });
    assert.deepEqual(await words(page, LINES), shown(written(translations[0])));
    assert.equal(await page.textContent('.nbest summary .score'), signed(translations[0].score));
    await page.click('.nbest summary');
    const scores = await page.$$eval('.candidate .score', (all) => all.map((one) => one.textContent));
    assert.deepEqual(
        scores,
        translations.map((one) => signed(one.score)),
    );
    await page.click('.sheet li:nth-child(2) button:last-child');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), translations[1].text);
    await page.click('.sheet li:nth-child(2) .candidate');
    await page.waitForFunction(
        (text) => document.querySelector('.sentences > .target .line').textContent.startsWith(text),
        translations[1].text,
    );
    const look = await harness.api('look', {
        model: 'attention',
        text: SENTENCE,
        target: translations[1].text,
    });
    close(await matrixIn(page, TABLE), look.sites.find((site) => site.site === 'cross').weights);
    await done();
});

test('the page translates while one types, and keeps the sentence in the address', async () => {
    const { page, done } = await harness.page();
    await page.waitForSelector(`${LINES} .word`);
    await page.keyboard.press('e');
    await page.fill('.source textarea', 'a white cow sleeps');
    const { translations } = await harness.api('translate', {
        model: 'attention',
        text: 'a white cow sleeps',
        beam_size: 5,
        n_best: 5,
    });
    await page.waitForFunction(
        (text) => document.querySelector('.sentences > .target .line').textContent.startsWith(text),
        translations[0].text,
    );
    await page.keyboard.press('Enter');
    assert.deepEqual(await words(page, '.source'), ['a', 'white', 'cow', 'sleeps']);
    assert.match(page.url(), /text=a\+white\+cow\+sleeps/u);
    await page.goBack();
    await page.waitForFunction(() => document.querySelector('.source .line').textContent.includes('black'));
    await done();
});

test('Next walks the words that are written, later ones being faint', async () => {
    const { page, done } = await harness.page();
    await page.waitForSelector(TABLE, { state: 'attached' });
    const look = await harness.api('look', { model: 'attention', text: SENTENCE });
    const { weights } = look.sites[0];
    for (let i = 0; i < 3; i++)
        await (i === 1 ? page.keyboard.press('ArrowRight') : page.click('text=Next ▶'));
    const later = await page.$$eval(`${LINES} .word`, (all) =>
        all.map((one) => one.classList.contains('later')),
    );
    assert.deepEqual(
        later,
        look.target_tokens.map((_, i) => i > 2),
    );
    assert.equal(await page.textContent('.reading h2'), look.target_tokens[2]);
    close(
        await page.$$eval('.reading .bars li', (all) => all.map((one) => Number(one.dataset.weight))),
        weights[2],
        1e-6,
    );
    const entropy = -weights[2].reduce((sum, w) => sum + (w > 0 ? w * Math.log(w) : 0), 0);
    assert.equal(await page.textContent('[data-fact=entropy]'), `${entropy.toFixed(2)} nat`);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.textContent('.reading h2'), look.target_tokens[1]);
    await page.waitForFunction(() => location.search.includes('at=1'));
    await page.reload();
    await page.waitForSelector('.reading h2');
    assert.equal(await page.textContent('.reading h2'), look.target_tokens[1]);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.reading .hint');
    await done();
});

test('a word on either side lights its links and dims the rest', async () => {
    const { page, done } = await harness.page('?figure=links');
    await page.waitForSelector('.link');
    const { weights } = (await harness.api('look', { model: 'attention', text: SENTENCE })).sites[0];
    await page.click('.source .word:nth-of-type(3)');
    const lit = await page.$$eval('.link.lit', (all) => all.map((one) => one.dataset.column));
    assert.ok(lit.length > 0 && lit.every((column) => column === '2'));
    assert.equal(await page.$$eval('.link:not(.lit):not(.dim)', (all) => all.length), 0);
    const sum = weights.reduce((total, row) => total + row[2], 0);
    assert.equal(await page.textContent('[data-fact=sum]'), sum.toFixed(2));
    await page.hover(`${LINES} .word:nth-of-type(2)`);
    assert.ok(
        (await page.$$eval('.link.lit', (all) => all.map((one) => one.dataset.row))).every(
            (row) => row === '1',
        ),
    );
    await page.click('.choice[data-value=matrix]');
    await page.focus('.matrix');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    assert.match(
        await page.textContent('.matrix .unseen'),
        new RegExp(`: ${weights[1][1].toFixed(2)}$`, 'u'),
    );
    await done();
});

test('the temperature redraws the weights, and decodes again', async () => {
    const { page, done } = await harness.page();
    await page.waitForSelector(TABLE, { state: 'attached' });
    const look = await harness.api('look', { model: 'attention', text: SENTENCE });
    for (const [step, temperature] of [
        [0, 0.2],
        [200, 4],
    ]) {
        await page.$eval(
            '.temperature input',
            (input, value) => ((input.value = value), input.dispatchEvent(new Event('input'))),
            step,
        );
        await page.waitForFunction((t) => location.search.includes(`t=${t}`), temperature);
        close(
            await matrixIn(page, TABLE),
            look.sites[0].scores.map((row) => softmax(row, temperature)),
        );
    }
    await page.click('.choice[data-value=decode]');
    await page.waitForSelector('.strip li');
    const interventions = ['temperature:4@site=cross'];
    const hot = await harness.api('translate', {
        model: 'attention',
        text: SENTENCE,
        beam_size: 5,
        n_best: 1,
        interventions,
    });
    const effect = await harness.api('look', { model: 'attention', text: SENTENCE, interventions });
    assert.deepEqual(await words(page, '.edited-line'), shown(written(hot.translations[0])));
    close(
        await page.$$eval('.strip li', (all) => all.map((one) => Number(one.dataset.tvd))),
        effect.intervention.steps.map((step) => step.tvd),
        1e-6,
    );
    close(await matrixIn(page, '.edited-figure table'), hot.translations[0].attention);
    await done();
});

test('layers and heads are small multiples, and one can be chosen', async () => {
    const { page, done } = await harness.page('?model=transformer&figure=heads');
    await page.waitForSelector('.multiple');
    const look = await harness.api('look', { model: 'transformer', text: SENTENCE });
    const cross = look.sites.filter((site) => site.site === 'cross');
    assert.equal(await page.$$eval('.multiple', (all) => all.length), cross.length);
    await page.click('.layer:nth-of-type(1) .multiple:nth-of-type(2)');
    await page.waitForSelector(TABLE, { state: 'attached' });
    close(await matrixIn(page, TABLE), cross.find((site) => site.layer === 0 && site.head === 1).weights);
    await page.selectOption('.sites label:has-text("who reads") select', 'encoder_self');
    await page.selectOption('.sites label:has-text("head") select', '1');
    const self = look.sites.find(
        (site) => site.site === 'encoder_self' && site.layer === 1 && site.head === 1,
    );
    close(await matrixIn(page, TABLE), self.weights);
    await done();
});

test('the beam tree shows fates, candidates, and goes on from a node', async () => {
    const { page, done } = await harness.page('?figure=tree');
    await page.waitForSelector('.tree .label.best');
    const { nodes } = await harness.api('tree', { model: 'attention', text: SENTENCE, beam_size: 5 });
    assert.equal(
        await page.$$eval('.tree .label', (all) => all.length),
        nodes.length + 1,
        'every node, and the start',
    );
    const pruned = nodes.find((node) => node.fate === 'pruned' && node.reason);
    assert.match(
        await page.getAttribute(`.tree [data-id="${pruned.id}"]`, 'aria-label'),
        new RegExp(pruned.reason.slice(0, 12), 'u'),
    );
    const second =
        nodes.find((node) => node.step === 1 && node.fate === 'lives' && !node.best) ??
        nodes.find((node) => node.step === 1 && node.best);
    await page.click(`.tree [data-id="${second.id}"]`);
    const children = nodes
        .filter((node) => node.parent === second.id)
        .sort((a, b) => b.log_prob - a.log_prob);
    const cells = await page.$$eval('.candidates tbody td:nth-child(2)', (all) =>
        all.map((one) => one.textContent),
    );
    assert.deepEqual(
        cells,
        children.map((node) => Math.exp(node.log_prob).toFixed(2)),
    );
    await page.uncheck('.tree input');
    assert.ok((await page.$$eval('.tree .label', (all) => all.length)) < nodes.length);
    await page.click('text=Continue from here');
    const prefix = [nodes.find((node) => node.id === second.parent).token, second.token].join(' ');
    const forced = await harness.api('translate', {
        model: 'attention',
        text: SENTENCE,
        prefix,
        n_best: 1,
        interventions: [],
    });
    await page.waitForSelector('.edited-line .word');
    assert.deepEqual(await words(page, '.edited-line'), shown(written(forced.translations[0])));
    await done();
});

test('words and pieces: both readings of a model that writes in pieces', async () => {
    const { page, done } = await harness.page('?view=lesson&step=3');
    const plain = await harness.api('look', { model: 'attention', text: SENTENCE });
    // Every word of more than four letters becomes two pieces, and its weight is shared between them.
    const parts = (token) =>
        token.length > 4 && token !== '</s>' ? [`${token.slice(0, 3)}@@`, token.slice(3)] : [token];
    const shares = (token) => (parts(token).length === 2 ? [0.25, 0.75] : [1]);
    const cut = (weights) =>
        weights.flatMap((row, i) =>
            parts(plain.target_tokens[i]).map(() =>
                row.flatMap((weight, j) => shares(plain.source_tokens[j]).map((share) => weight * share)),
            ),
        );
    await page.route('**/api/v1/look', (route) =>
        route.fulfill({
            json: {
                ...plain,
                source_tokens: plain.source_tokens.flatMap(parts),
                target_tokens: plain.target_tokens.flatMap(parts),
                sites: plain.sites.map((site) => ({
                    ...site,
                    weights: cut(site.weights),
                    scores: undefined,
                })),
            },
        }),
    );
    await page.keyboard.press('1');
    await page.waitForSelector(TABLE, { state: 'attached' });
    close(await matrixIn(page, TABLE), plain.sites[0].weights);
    assert.deepEqual(await words(page, LINES), shown(plain.target_tokens));
    await page.click('.choice[data-value=pieces]');
    close(await matrixIn(page, TABLE), cut(plain.sites[0].weights));
    assert.deepEqual(await words(page, LINES), shown(plain.target_tokens.flatMap(parts)));
    await done();
});

test('a fixed-vector model has nothing to look at, and the page says so', async () => {
    const { page, done } = await harness.page('?model=fixed_vector');
    await page.waitForSelector('.nothing');
    assert.equal(await page.textContent('.nothing'), 'This model has one vector and nothing to look at.');
    await done();
});

test('pictures can be saved', async () => {
    const { page, done } = await harness.page();
    await page.waitForSelector('.files button');
    const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.click('.files button:has-text("CSV")'),
    ]);
    assert.equal(file.suggestedFilename(), 'regard.csv');
    await done();
});
