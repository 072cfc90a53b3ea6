// Asking the server: JSON in, JSON out, errors that say what to do.

const BASE = new URL('../api/v1/', import.meta.url);
const KEPT = 60;
/** Names this page to the server, so that all its connections share one turn. */
const PAGE = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    byte.toString(16).padStart(2, '0'),
).join('');

/** Answers that depend on their question alone, so that walking back and forth asks nothing twice. @type {Map<string, Promise<any>>} */
const answers = new Map();

/** What went wrong, in words for the reader. */
export class ApiError extends Error {
    /**
     * @param {string} message
     * @param {number} status 0 where no answer came
     */
    constructor(message, status) {
        super(message);
        this.status = status;
    }
}

/** @param {number} status @param {string} reason */
function advice(status, reason) {
    if (status === 429 || status === 503)
        return `The server is busy (${reason}). Wait a moment and try again.`;
    if (status === 413) return `That is too long for this server (${reason}). Try a shorter text.`;
    return reason;
}

/** @param {string} method @param {string} path @param {unknown} body @param {AbortSignal} [signal] */
async function send(method, path, body, signal) {
    const headers = {
        'x-regard-page': PAGE,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const init = { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    let response;
    try {
        response = await fetch(new URL(path, BASE), { method, signal: signal ?? null, ...init });
    } catch (error) {
        if (signal?.aborted) throw error;
        throw new ApiError(
            'The server does not answer. Is `regard serve` still running? Start it and try again.',
            0,
        );
    }
    if (response.ok) return response;
    const said = await response.json().catch(() => ({}));
    throw new ApiError(
        advice(response.status, said.error ?? `${response.status} ${response.statusText}`),
        response.status,
    );
}

/**
 * @param {string} path below `/api/v1/`
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export const get = async (path, signal) => (await send('GET', path, undefined, signal)).json();

/**
 * Asks for something that is made anew each time.
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export const post = async (path, body, signal) => (await send('POST', path, body, signal)).json();

/** @param {string} path */
export const remove = async (path) => (await send('DELETE', path, undefined)).json().catch(() => ({}));

/**
 * Asks what has one answer (a translation, a look, a tree), or remembers it.
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function ask(path, body, signal) {
    const key = path + JSON.stringify(body);
    const known = answers.get(key);
    if (known) return known;
    const answer = post(path, body, signal);
    answers.set(key, answer);
    // What is given up while it runs must not be what the next one waits for.
    const forget = () => answers.delete(key);
    signal?.addEventListener('abort', forget);
    answer.catch(forget).finally(() => signal?.removeEventListener('abort', forget));
    const [oldest] = answers.keys();
    if (answers.size > KEPT && oldest !== undefined) answers.delete(oldest);
    return answer;
}

/**
 * Has the server make a picture and hands it to the reader as a file.
 * @param {Record<string, unknown> & {format: string}} body
 * @param {AbortSignal} signal
 */
export async function download(body, signal) {
    const blob = await (await send('POST', 'picture', body, signal)).blob();
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = `regard.${body.format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
