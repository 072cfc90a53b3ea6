// A browser, a server, and what every test of the page watches for: errors, failed requests, requests to other hosts.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { start } from './mock_server.mjs';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** A model without a stored curve or audit is answered with 404, which Chromium reports although the page shows the reason. */
const EXPECTED = /\/api\/v1\/(curve|audit)\?/u;

export class Harness {
    static async open() {
        const harness = new Harness();
        const given = process.env.REGARD_URL || null;
        harness.mock = given ? null : (await start()).server;
        harness.url = given?.replace(/\/$/u, '') ?? `http://127.0.0.1:${harness.mock.address().port}`;
        harness.browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] });
        return harness;
    }

    /** A page at `query`, watched. Close it with `done`. */
    async page(query = '', options = {}) {
        const context = await this.browser.newContext({
            viewport: { width: 1280, height: 900 },
            permissions: ['clipboard-read', 'clipboard-write'],
            ...options,
        });
        const page = await context.newPage();
        const problems = [];
        page.on('console', (message) => {
            const at = message.location().url;
            if (message.type() === 'error' && !EXPECTED.test(at))
                problems.push(`console: ${message.text()} ${at}`);
        });
        page.on('pageerror', (error) => problems.push(`error: ${error.stack}`));
        page.on(
            'requestfailed',
            (request) =>
                request.failure()?.errorText !== 'net::ERR_ABORTED' &&
                problems.push(`failed: ${request.url()} ${request.failure()?.errorText}`),
        );
        page.on('request', (request) => {
            const { origin, protocol } = new URL(request.url());
            if (origin !== new URL(this.url).origin && protocol !== 'data:' && protocol !== 'blob:')
                problems.push(`other host: ${request.url()}`);
        });
        page.on(
            'response',
            (response) =>
                response.status() >= 400 &&
                !EXPECTED.test(response.url()) &&
                problems.push(`${response.status()}: ${response.url()}`),
        );
        await page.goto(`${this.url}/${query}`);
        await page.waitForSelector('.view');
        return { page, problems, done: async () => (await context.close(), assert.deepEqual(problems, [])) };
    }

    /** Asks the API directly, past the page. */
    async api(path, body) {
        const init = body
            ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
            : {};
        const response = await fetch(`${this.url}/api/v1/${path}`, init);
        return response.json();
    }

    /** The result of a job. */
    async job(path, body) {
        const { job } = await this.api(path, body);
        for (;;) {
            const { state, result, error } = await this.api(`jobs/${job}`);
            if (state === 'done') return result;
            assert.ok(['waiting', 'running'].includes(state), error);
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
    }

    async close() {
        await this.browser.close();
        this.mock?.close();
    }
}

export const SENTENCE = 'the black cat sleeps on the red chair';

/** The sentence that the page shows, word by word. */
export const words = (page, selector) =>
    page.$$eval(`${selector} .word`, (all) => all.map((one) => one.textContent));

/** Tokens as the page shows them. */
export const shown = (tokens) => tokens.map((token) => (token === '</s>' ? '⟨end⟩' : token));

/** All tokens of a translation, the end symbol included where it was written. */
export const written = ({ tokens, length }) => (length > tokens.length ? [...tokens, '</s>'] : tokens);

/** A number as the page writes scores. */
export const signed = (value) => {
    const text = Math.abs(value).toFixed(Math.abs(value) < 0.1 ? 4 : 2);
    return value < 0 && Number(text) !== 0 ? `−${text}` : text;
};

/** The table behind the picture, as numbers. */
export const matrixIn = (page, selector) =>
    page.$eval(selector, (table) =>
        [...table.querySelectorAll('tbody tr')].map((row) =>
            [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent)),
        ),
    );

/** Every number of `got` within `by` of `wanted`. */
export function close(got, wanted, by = 6e-4) {
    assert.equal(got.length, wanted.length, 'number of rows');
    got.forEach((row, i) =>
        [row].flat().forEach((value, j) => {
            const right = [wanted[i]].flat()[j];
            assert.ok(
                Math.abs(value - right) <= by,
                `row ${i}, column ${j}: ${value} on the page, ${right} from the API`,
            );
        }),
    );
}

export const softmax = (scores, temperature) => {
    const top = Math.max(...scores.map((score) => score ?? -Infinity));
    const parts = scores.map((score) => (score === null ? 0 : Math.exp((score - top) / temperature)));
    const sum = parts.reduce((a, b) => a + b, 0);
    return parts.map((part) => part / sum);
};
