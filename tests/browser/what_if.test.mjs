// What if: every kind of edit, its effect held against the API's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Harness, SENTENCE, close, matrixIn, shown, words, written } from './harness.mjs';

let harness;
before(async () => (harness = await Harness.open()));
after(() => harness.close());

/** The middle of a cell of the original's matrix. */
async function cell(page, row, column) {
    const box = await (
        await page.$(`.original-figure .cells > g:nth-of-type(1), .original-figure .cells`)
    ).$$('rect');
    const columns = (await words(page, '.source')).length + 1;
    const { x, y, width, height } = await box[row * columns + column].boundingBox();
    return [x + width / 2, y + height / 2];
}

async function hold(page, model, interventions, prefix) {
    const after = await harness.api('translate', {
        model,
        text: SENTENCE,
        beam_size: 5,
        n_best: 1,
        interventions,
        ...(prefix ? { prefix } : {}),
    });
    await page.waitForFunction(
        (text) => document.querySelector('.edited-line .line')?.textContent.startsWith(text),
        after.translations[0].text,
    );
    assert.deepEqual(await words(page, '.edited-line'), shown(written(after.translations[0])));
    if (interventions.length === 0) return after;
    const effect = await harness.api('look', { model, text: SENTENCE, interventions });
    await page.waitForFunction(
        (tvd) =>
            Math.abs(
                [...document.querySelectorAll('.strip li')].reduce(
                    (sum, one) => sum + Number(one.dataset.tvd),
                    0,
                ) - tvd,
            ) < 1e-6,
        effect.intervention.steps.reduce((sum, step) => sum + step.tvd, 0),
    );
    close(
        await page.$$eval('.strip li', (all) => all.map((one) => Number(one.dataset.tvd))),
        effect.intervention.steps.map((step) => step.tvd),
        1e-6,
    );
    close(await matrixIn(page, '.edited-figure table'), after.translations[0].attention);
    return effect;
}

test('a cell is removed and forced, by mouse and by keyboard; undo and reset', async () => {
    const { page, done } = await harness.page('?view=what_if');
    await page.waitForSelector('.original-figure .cells');
    await page.mouse.click(...(await cell(page, 2, 1)));
    await page.click('.menu button:has-text("at every word")');
    const effect = await hold(page, 'attention', ['remove:src=1@step=all']);
    const story = await page.textContent('.story');
    assert.match(story, /^Removing black /u);
    if (effect.intervention.first_change === null) assert.match(story, /changed no word/u);
    if (harness.mock) {
        assert.equal(story, 'Removing black changed noir to rouge and nothing else.');
        assert.equal(
            await page.$$eval('.edited-line .changed', (all) => all.map((one) => one.textContent).join()),
            'rouge',
        );
    }
    assert.match(page.url(), /edit=remove%3Asrc%3D1%40step%3Dall/u);

    await page.focus('.original-figure .matrix');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await hold(page, 'attention', ['remove:src=1@step=all', 'force:src=1@step=2']);
    assert.equal(await page.$$eval('.edits li', (all) => all.length), 2);
    await page.keyboard.press('u');
    await hold(page, 'attention', ['remove:src=1@step=all']);
    await page.click('text=Copy link');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
    await page.click('text=Reset');
    await page.waitForSelector('.edited-line', { state: 'hidden' });
    await done();
});

test('a link that was shared shows the same', async () => {
    const { page, done } = await harness.page(
        `?view=what_if&edit=${encodeURIComponent('force:src=2@step=2')}`,
    );
    await hold(page, 'attention', ['force:src=2@step=2']);
    assert.match(await page.textContent('.edits li'), /force noir to cat/u);
    await done();
});

test('a row is repainted by dragging, and by keys', async () => {
    const { page, done } = await harness.page('?view=what_if');
    await page.waitForSelector('.original-figure .cells');
    const from = await cell(page, 3, 4),
        to = await cell(page, 3, 6);
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(...to, { steps: 12 });
    await page.mouse.up();
    await page.waitForSelector('.edits li');
    const [spec] = new URL(page.url()).searchParams.getAll('edit');
    const weights = spec.slice(4).split('@')[0].split(',').map(Number);
    assert.ok(Math.abs(weights.reduce((a, b) => a + b, 0) - 1) < 1e-9, spec);
    assert.ok(
        weights.every((weight, j) => (j >= 4 && j <= 6 ? Math.abs(weight - 1 / 3) < 1e-3 : weight === 0)),
        spec,
    );
    await hold(page, 'attention', [spec]);
    await page.click('text=Reset');
    await page.mouse.click(...(await cell(page, 0, 0)));
    await page.keyboard.press('Escape');
    await page.keyboard.down('Shift');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.up('Shift');
    await page.waitForSelector('.edits li');
    assert.match(new URL(page.url()).searchParams.get('edit'), /^row:0\.5,0\.5,0,/u);
    await done();
});

test('a head is dropped', async () => {
    const { page, done } = await harness.page('?view=what_if&model=transformer');
    await page.waitForSelector('.more button');
    await page.selectOption('.more label:has-text("drop") select', '1.3');
    await page.click('.more button:has-text("Drop")');
    await hold(page, 'transformer', ['remove-head@head=1.3']);
    assert.match(await page.textContent('.story'), /^Dropping head 1\.3/u);
    await done();
});

test('a word is forced at a step, and the translation goes on from there', async () => {
    const { page, done } = await harness.page('?view=what_if&at=2');
    await page.waitForSelector('.more input');
    const { target_tokens } = await harness.api('look', { model: 'attention', text: SENTENCE });
    await page.fill('.more input[aria-label="The word it must be"]', 'noire');
    await page.click('text=Go on');
    await hold(page, 'attention', [], [...target_tokens.slice(0, 2), 'noire'].join(' '));
    assert.match(await page.textContent('.edits li'), /make word 3 noire/u);
    await done();
});

test('a mistake is answered with its reason, and the original stays', async () => {
    const { page, problems } = await harness.page('?view=what_if');
    await page.waitForSelector('.original-figure .cells');
    await page.click('.more summary');
    await page.fill('.more details input', 'blur:3@step=1');
    await page.click('text=Apply');
    await page.waitForSelector('.error');
    assert.match(await page.textContent('.error'), /blur/u);
    assert.ok((await words(page, '.sentences > .target')).length > 0);
    assert.ok(
        problems.every((problem) => problem.includes('400')),
        problems.join('\n'),
    );
    await page.context().close();
});

test('a fixed-vector model can still be forced', async () => {
    const { page, done } = await harness.page('?view=what_if&model=fixed_vector');
    await page.waitForSelector('.nothing');
    await page.fill('.more input[aria-label="The word it must be"]', 'la');
    await page.click('text=Go on');
    await hold(page, 'fixed_vector', [], 'la');
    await done();
});
