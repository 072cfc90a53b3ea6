// Light or dark: as the system says, or as the reader chose; and who wants to know when it changes.

const KEY = 'regard-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
/** @type {Set<() => void>} */
const listeners = new Set();

/** The reader's choice, where the browser lets the page keep one. */
function chosen() {
    try {
        return localStorage.getItem(KEY) ?? '';
    } catch {
        return '';
    }
}

function apply() {
    const choice = chosen();
    const isDark = choice === 'dark' || (choice !== 'light' && dark.matches);
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
    for (const listener of listeners) listener();
}

/** Starts following the system. */
export function follow() {
    dark.addEventListener('change', apply);
    apply();
}

/** The other one; a choice that agrees with the system is forgotten, so that the page follows again. */
export function toggle() {
    const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    const system = dark.matches ? 'dark' : 'light';
    try {
        if (next === system) localStorage.removeItem(KEY);
        else localStorage.setItem(KEY, next);
    } catch {
        // Without storage the choice cannot be kept; the page stays as the system says.
    }
    apply();
}

/** @param {() => void} listener */
export function onTheme(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}
