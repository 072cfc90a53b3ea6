// Work that takes long: it is begun by one request, and asked about until it is over.
import { ApiError, get, remove } from './api.js';

const PAUSE = 300;

/**
 * Waits for a job: what comes out. Where the waiting is given up, so is the job.
 * @param {number} number
 * @param {AbortSignal} signal
 * @param {(done: number, total: number) => void} [report]
 * @returns {Promise<any>}
 */
export async function finish(number, signal, report) {
    const path = `jobs/${encodeURIComponent(number)}`;
    const cancel = () => void remove(path);
    signal.addEventListener('abort', cancel);
    try {
        for (;;) {
            /** @type {import('./types.js').Job} */
            const job = await get(path, signal);
            report?.(job.done, job.total);
            if (job.state === 'done') return job.result;
            if (job.state !== 'running' && job.state !== 'waiting')
                throw new ApiError(job.error ?? `It is ${job.state}.`, 0);
            await new Promise((resolve) => setTimeout(resolve, PAUSE));
        }
    } finally {
        signal.removeEventListener('abort', cancel);
    }
}
