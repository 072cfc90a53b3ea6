// Compare, Audit, the lesson, and the manners of the page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Harness, SENTENCE, close, matrixIn, signed, softmax } from './harness.mjs';

let harness;
before(async () => (harness = await Harness.open()));
after(() => harness.close());

test('models stand side by side, with their curves', async () => {
    const { page, done } = await harness.page('?view=compare');
    const { models } = await harness.api('models');
    await page.waitForSelector('.column');
    for (const { name, attention } of models.slice(0, 3)) {
        const column = `.column[data-model="${name}"]`;
        const { translations } = await harness.api('translate', {
            model: name,
            text: SENTENCE,
            beam_size: 5,
            n_best: 1,
        });
        assert.equal((await page.textContent(`${column} .line`)).trim(), translations[0].text);
        assert.equal(await page.textContent(`${column} .score`), signed(translations[0].score));
        if (!attention) assert.match(await page.textContent(column), /one vector and nothing to look at/u);
    }
    const look = await harness.api('look', { model: 'attention', text: SENTENCE });
    close(await matrixIn(page, '.column[data-model=attention] table'), look.sites[0].weights);
    const curve = await harness.api('curve?model=attention');
    const buckets = (Array.isArray(curve) ? curve[0] : curve).by_length?.filter((bucket) => bucket.lines > 0);
    if (buckets) {
        const text = await page.textContent('.curves table');
        for (const bucket of buckets)
            assert.ok(text.includes(bucket.score.toFixed(1)), `${bucket.score} of the curve`);
    }
    await page.selectOption('.column:nth-of-type(1) select', 'transformer');
    await page.waitForSelector('.column:nth-of-type(1)[data-model=transformer]');
    assert.match(page.url(), /with=transformer/u);
    await done();
});

test('the last audit is shown, and one can be run and cancelled', async () => {
    const { page, done } = await harness.page('?view=audit&model=attention');
    const stored = await harness.api('audit?model=attention');
    if (stored.verdict) {
        await page.waitForSelector('.verdict');
        assert.equal(await page.textContent('.verdict'), stored.verdict);
        const values = await page.$$eval('.result tbody tr', (all) =>
            all.map((row) => row.children[2].textContent),
        );
        assert.deepEqual(
            values,
            stored.tests.map((one) => one.value.toFixed(3)),
        );
    }
    const routes = harness.mock ? null : (await harness.api('openapi.json')).paths;
    if (routes && !routes['/api/v1/audit'].post) return done();
    await page.click('text=Run the audit');
    await page.waitForSelector('progress');
    await page.waitForFunction(
        () => document.querySelector('.progress').textContent.includes('Done'),
        undefined,
        { timeout: 120000 },
    );
    assert.match(await page.textContent('.result .note'), /: 6 sentences/u);
    await page.click('text=Run the audit');
    await page.click('.progress button');
    await page.waitForFunction(() => document.querySelector('.progress').textContent.includes('Cancelled'));
    await done();
});

test('the lookup by hand gives the seeds’ numbers', async () => {
    const { page, done } = await harness.page('?view=lesson&step=3');
    await page.waitForSelector('[data-weights]');
    const weights = async () =>
        (await page.getAttribute('[data-weights]', 'data-weights')).split(' ').map(Number);
    close([await weights()], [softmax([1, 3, 0.5, 0], 1)], 1e-9);
    assert.match(await page.textContent('table'), /25\.45/u);
    await page.fill('input[aria-label="Score of cat"]', '3');
    close([await weights()], [softmax([1, 3, 3, 0], 1)], 1e-9);
    await done();
});

test('the lesson’s measurements come from the models', async () => {
    const { page, done } = await harness.page('?view=lesson');
    await page.waitForSelector('[data-right]');
    await page.click('text=Longer');
    await page.click('text=Measure every length');
    await page.waitForSelector('.chart .name');
    await page.click('text=Next step');
    await page.waitForSelector('.chart');
    await page.$eval(
        'input[aria-label=Length]',
        (input) => ((input.value = '2'), input.dispatchEvent(new Event('input'))),
    );
    const curves = await Promise.all(
        ['attention', 'fixed_vector'].map((model) => harness.api(`curve?model=${model}`)),
    );
    const scores = curves.map((curve) => (Array.isArray(curve) ? curve[0] : curve).by_length?.[2]?.score);
    for (const score of scores)
        if (score !== undefined) assert.ok((await page.textContent('.story')).includes(score.toFixed(1)));
    await page.goto(`${harness.url}/?view=lesson&step=4`);
    await page.click('text=Decode ten sentences');
    await page.waitForSelector('.chart .name', { timeout: 120000 });
    await done();
});

test('the lesson’s guesses and removals', async () => {
    const { page, done } = await harness.page('?view=lesson&step=5');
    const look = await harness.api('look', { model: 'attention', text: SENTENCE });
    const { weights } = look.sites[0];
    await page.waitForSelector('.crossing .word');
    await page.click('.crossing [aria-label^=Source] .word:nth-of-type(1)');
    assert.ok((await page.textContent('.story')).includes(Math.max(...weights[0]).toFixed(2)));
    await page.click('text=Next word');
    await page.goto(`${harness.url}/?view=lesson&step=6`);
    await page.waitForSelector('[data-noun]');
    const article = look.target_tokens.indexOf('chaise') - 1;
    assert.ok(
        Math.abs(Number(await page.getAttribute('[data-noun]', 'data-noun')) - weights[article][7]) < 1e-6,
    );
    await page.click('text=Remove “chair” everywhere');
    await page.waitForSelector('.strip li');
    const removed = await harness.api('look', {
        model: 'attention',
        text: SENTENCE,
        interventions: ['remove:src=7@step=all'],
    });
    close(
        await page.$$eval('.strip li', (all) => all.map((one) => Number(one.dataset.tvd))),
        removed.intervention.steps.map((step) => step.tvd),
        1e-6,
    );
    await page.click('text=Put the state of “bed” there');
    await page.waitForFunction(() => document.querySelector('.story').textContent.startsWith('Putting'));
    await page.goto(`${harness.url}/?view=lesson&step=8`);
    await page.click('text=Take them away');
    await page.waitForSelector('.lesson table', { timeout: 60000 });
    const most = weights[2].indexOf(Math.max(...weights[2]));
    const one = await harness.api('look', {
        model: 'attention',
        text: SENTENCE,
        interventions: [`remove:src=${most}@step=2`],
    });
    assert.equal(
        await page.textContent('.lesson tbody tr:nth-child(3) td:nth-child(3)'),
        one.intervention.steps[2].tvd.toFixed(2),
    );
    await done();
});

test('self-attention: entropies that fall, and the Transformer’s heads', async () => {
    const { page, done } = await harness.page('?view=lesson&step=7');
    await page.waitForSelector('.multiple');
    const rows = await page.$$eval('.chart:first-of-type tbody tr', (all) =>
        all.map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent))),
    );
    const [plain, scaled] = rows.at(9);
    assert.ok(plain < 0.4 && scaled > 1.5, `${plain} and ${scaled} nats at 512`);
    await page.click('text=Measure the gradients');
    await page.waitForSelector('.reach tbody', { timeout: 60000, state: 'attached' });
    const shares = await matrixIn(page, '.reach table');
    const text = (await page.textContent('.reach .prose')).match(/“(.*)”/u)[1];
    for (const [column, model] of ['fixed_vector', 'attention', 'transformer'].entries()) {
        const { source } = await harness.job('attribution', { model, text, method: 'gradient-input-l2' });
        const share = (position) => {
            const parts = source.map((row) => row[position] / row.reduce((a, b) => a + b));
            return parts.reduce((a, b) => a + b) / source.length;
        };
        close(
            shares.map((row) => row[column]),
            source[0].map((_, position) => share(position)),
        );
    }
    await page.click('.multiple');
    await page.waitForSelector('.figure .matrix');
    assert.match(page.url(), /site=encoder_self/u);
    await done();
});

test('a slow answer shows that it is working, and can be cancelled', async () => {
    const { page, done } = await harness.page();
    await page.waitForSelector('.sentences > .target .word');
    await page.route('**/api/v1/translate', async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 1500));
        await route.continue().catch(() => {});
    });
    await page.keyboard.press('e');
    await page.fill('.source textarea', 'my dog sings');
    await page.waitForSelector('.working .pulse');
    await page.click('.working button');
    await page.waitForFunction(() => document.querySelector('.working').textContent.startsWith('Cancelled'));
    await page.unroute('**/api/v1/translate');
    await page.click('text=Ask again');
    await page.waitForFunction(() => document.querySelectorAll('.source .word').length === 3);
    await done();
});

test('a server that is gone is named, with what to do', async () => {
    const { page } = await harness.page();
    await page.waitForSelector('.sentences > .target .word');
    await page.route('**/api/v1/**', (route) => route.abort('connectionrefused'));
    await page.keyboard.press('e');
    await page.fill('.source textarea', 'my dog sings');
    await page.waitForSelector('.working .error');
    assert.match(await page.textContent('.working .error'), /does not answer.*regard serve/u);
    await page.unroute('**/api/v1/**');
    await page.click('text=Try again');
    await page.waitForFunction(
        () =>
            document.querySelectorAll('.source .word').length === 3 &&
            document.querySelector('.working').textContent === '',
    );
    await page.context().close();
});

test('the theme follows the system and can be switched; keys lead everywhere', async () => {
    const { page, done } = await harness.page('', { colorScheme: 'dark' });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), 'dark');
    await page.click('button[aria-label="Light or dark"]');
    assert.equal(await theme(), 'light');
    await page.reload();
    await page.waitForSelector('.view');
    assert.equal(await theme(), 'light');
    for (const [key, name] of [
        ['2', 'what-if'],
        ['3', 'compare'],
        ['4', 'audit'],
        ['5', 'lesson'],
        ['1', 'translate'],
    ]) {
        await page.keyboard.press(key);
        await page.waitForSelector(`.view.${name}`);
    }
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await done();
});

test('every control has a name, every picture a label and a table', async () => {
    for (const view of ['translate', 'what_if', 'compare', 'audit', 'lesson']) {
        const { page, done } = await harness.page(`?view=${view}&model=transformer`);
        await page.waitForTimeout(500);
        const nameless = await page.$$eval(
            'button, select, input, textarea, svg[role=img], [role=group]',
            (all) =>
                all
                    .filter(
                        (one) =>
                            !one.getAttribute('aria-label') &&
                            !one.textContent?.trim() &&
                            !one.closest('label') &&
                            !document.querySelector(`label[for="${one.id}"]`),
                    )
                    .map((one) => one.outerHTML.slice(0, 120)),
        );
        assert.deepEqual(nameless, [], view);
        const bare = await page.$$eval(
            '.matrix',
            (all) =>
                all.filter(
                    (one) =>
                        one.offsetParent !== null && !one.closest('figure, .figure').querySelector('table'),
                ).length,
        );
        assert.equal(bare, 0, view);
        await done();
    }
});

test('nothing is cut off sideways on a phone', async () => {
    for (const query of [
        '',
        '?figure=links',
        '?figure=heads&model=transformer',
        '?figure=tree',
        '?view=what_if&edit=uniform%40step%3Dall',
        '?view=compare',
        '?view=audit',
        '?view=lesson&step=7',
    ]) {
        const { page, done } = await harness.page(query, { viewport: { width: 390, height: 844 } });
        await page.waitForTimeout(600);
        const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(wide <= room, `${query}: ${wide} of ${room} pixels`);
        await done();
    }
});

test('long sentences are drawn on a canvas, right-to-left ones from the right', async () => {
    const long = Array(7).fill('the small black cat often sees this bird').join(' and ');
    const { page, done } = await harness.page(`?text=${encodeURIComponent(long)}`);
    await page.waitForSelector('.matrix canvas');
    const look = await harness.api('look', { model: 'attention', text: long });
    close(await matrixIn(page, '.figure .behind table'), look.sites[0].weights);
    await done();
    const hebrew = await harness.page(`?text=${encodeURIComponent('הילדה קוראת ספר')}`);
    await hebrew.page.waitForSelector('.matrix .cells rect');
    const places = await hebrew.page.$$eval('.cells > g > rect, .cells > rect', (all) =>
        all.slice(0, 2).map((one) => Number(one.getAttribute('x'))),
    );
    assert.ok(places[0] > places[1], 'the first word is on the right');
    await hebrew.done();
});
