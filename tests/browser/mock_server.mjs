// Serves crates/regard-serve/web and answers of the API's shapes from a toy. Usage: node mock_server.mjs [PORT]
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refusal, attribution, audit, curve, look, translate, tree } from './mock_answers.mjs';
import { Toy } from './mock_model.mjs';

const WEB = fileURLToPath(new URL('../../crates/regard-serve/web/', import.meta.url));
const TYPES = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
};
const POLICY = "default-src 'self'; style-src 'self'; img-src 'self' data:";
const models = [
    new Toy('fixed_vector', 'fixed_vector'),
    new Toy('attention', 'attention'),
    new Toy('transformer', 'transformer'),
];
const audits = new Map([['attention', audit(models[1], 200)]]);
const jobs = new Map();

function model(name) {
    const found = models.find((one) => one.name === name);
    if (!found) throw new Refusal(404, 'no_model', `model: no model is called "${name}"`);
    return found;
}

function picture(body) {
    const seen = look(model(body.model), body);
    const csv = seen.target_tokens
        .map((token, i) => [token, ...(seen.sites[0]?.weights[i] ?? [])].join(','))
        .join('\n');
    const type = { csv: 'text/csv', svg: 'image/svg+xml', html: 'text/html', png: 'image/png' }[body.format];
    return { type, text: body.format === 'csv' ? csv : '<svg xmlns="http://www.w3.org/2000/svg"/>' };
}

/** @param finish makes the result, at the end */
function startJob(total, finish) {
    const id = jobs.size + 1;
    jobs.set(String(id), { done: 0, total, state: 'running', finish });
    return { job: id };
}

function startAudit(body) {
    const one = model(body.model);
    const { length } = body.sources;
    return startJob(length, () => {
        audits.set(one.name, audit(one, length));
        return audits.get(one.name);
    });
}

/** A job moves on by one line each time that it is asked about. */
function job(id, method) {
    const found = jobs.get(id);
    if (!found) throw new Refusal(404, 'no_job', `no job is called "${id}"`);
    if (method === 'DELETE') found.state = 'cancelled';
    if (found.state === 'running' && ++found.done >= found.total) {
        found.state = 'done';
        found.result = found.finish();
    }
    const { done, total, state, result } = found;
    return { done, total, state, result };
}

function answer(method, path, query, body) {
    const get = {
        models: () => ({ models: models.map((one) => one.describe()) }),
        curve: () => curve(model(query.get('model'))),
        audit: () =>
            audits.get(model(query.get('model')).name) ??
            refuse(404, 'no_audit', 'no audit is stored with this model; run one here, or with regard audit'),
    };
    const post = {
        translate: () => translate(model(body.model), body),
        look: () => look(model(body.model), body),
        tree: () => tree(model(body.model), body),
        audit: () => startAudit(body),
        attribution: () => startJob(1, () => attribution(model(body.model), body)),
    };
    const route = { GET: get, POST: post }[method]?.[path];
    if (path.startsWith('jobs/')) return job(path.slice(5), method);
    return route ? route() : refuse(404, 'no_route', `${method} /api/v1/${path} is not a route`);
}

function refuse(status, code, message) {
    throw new Refusal(status, code, message);
}

async function api(request, url, response) {
    const path = url.pathname.slice('/api/v1/'.length);
    let body = {};
    if (request.method === 'POST') {
        let text = '';
        for await (const chunk of request) text += chunk;
        body = JSON.parse(text);
        if (body.text !== undefined && body.text.length > 2000)
            refuse(413, 'too_long', 'text: at most 2,000 characters');
    }
    if (path === 'picture') {
        const { type, text } = picture(body);
        return response.writeHead(200, { 'content-type': type }).end(text);
    }
    const text = JSON.stringify(answer(request.method, path, url.searchParams, body));
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

async function file(url, response) {
    const path = url.pathname === '/' ? 'index.html' : normalize(url.pathname).replace(/^\/web\//u, '');
    const bytes = await readFile(join(WEB, path)).catch(() =>
        refuse(404, 'no_file', `${url.pathname} is not here`),
    );
    response
        .writeHead(200, {
            'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
            'content-security-policy': POLICY,
        })
        .end(bytes);
}

export function start(port = 0) {
    const server = createServer((request, response) => {
        const url = new URL(request.url, 'http://localhost');
        const work = url.pathname.startsWith('/api/') ? api(request, url, response) : file(url, response);
        work.catch((error) => {
            const status = error instanceof Refusal ? error.status : 400;
            response
                .writeHead(status, { 'content-type': 'application/json' })
                .end(JSON.stringify({ error: error.message, code: error.code ?? 'bad_request' }));
        });
    });
    return new Promise((resolve) =>
        server.listen(port, '127.0.0.1', () =>
            resolve({ server, url: `http://127.0.0.1:${server.address().port}` }),
        ),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url))
    console.log((await start(Number(process.argv[2] ?? 5050))).url);
