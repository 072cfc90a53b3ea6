// The page: its head, its address, and the view between them. Everything is drawn before the first model is known.
import { get } from './api.js';
import { button, fill, h, picker } from './dom.js';
import { openHelp } from './help.js';
import { listen } from './keyboard.js';
import { read, write } from './state.js';
import { follow, toggle } from './theme.js';
import { open as openAudit } from './views/audit.js';
import { open as openCompare } from './views/compare.js';
import { open as openLesson } from './views/lesson.js';
import { open as openTranslate } from './views/translate.js';
import { open as openWhatIf } from './views/what_if.js';
import { Working } from './working.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').View} View */

/** @type {Record<string, {title: string, open: (app: App) => View}>} */
const VIEWS = {
    translate: { title: 'Translate', open: openTranslate },
    what_if: { title: 'What if', open: openWhatIf },
    compare: { title: 'Compare', open: openCompare },
    audit: { title: 'Audit', open: openAudit },
    lesson: { title: 'Lesson', open: openLesson },
};

const PAUSE = 150;

const main = /** @type {HTMLElement} */ (document.querySelector('main'));
const nav = /** @type {HTMLElement} */ (document.querySelector('nav'));
const tools = /** @type {HTMLElement} */ (document.querySelector('header .tools'));

/** @type {View | null} */
let view = null;
let shown = '';
let timer = 0;

/** @type {App} */
const app = {
    state: read(location.search),
    models: [],
    model: () => app.models.find((model) => model.name === app.state.model),
    set(changes, entry = 'replace') {
        Object.assign(app.state, changes);
        address(entry);
        render();
    },
};

/**
 * Browsers limit how often the address may change: what a slider or a walk does is written once it rests.
 * @param {'push' | 'replace'} entry
 */
function address(entry) {
    clearTimeout(timer);
    if (entry === 'push') history.pushState(null, '', write(app.state));
    else timer = setTimeout(() => history.replaceState(null, '', write(app.state)), PAUSE);
}

/** The view that the state names, opened where another one stands. */
function render() {
    drawHead();
    if (app.models.length === 0) return;
    if (shown === app.state.view && view) return view.update();
    view?.close?.();
    shown = app.state.view;
    const { title, open } = VIEWS[shown] ?? /** @type {typeof VIEWS[string]} */ (VIEWS.translate);
    document.title = `${title} · regard`;
    view = open(app);
    fill(main, view.element);
    return undefined;
}

function drawHead() {
    const link = (/** @type {string} */ name) => {
        const go = (/** @type {MouseEvent} */ event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            app.set({ view: name }, 'push');
        };
        const current = app.state.view === name;
        return h(
            'a',
            {
                href: write({ ...app.state, view: name }),
                onclick: go,
                'aria-current': current ? 'page' : null,
                'data-value': name,
            },
            VIEWS[name]?.title,
        );
    };
    fill(nav, Object.keys(VIEWS).map(link));
    const choose = (/** @type {string} */ model) =>
        app.set(
            { model, n: 0, at: null, pick: '', layer: null, head: null, site: 'cross', edits: [] },
            'push',
        );
    const models = app.models.map(({ name }) => /** @type {[string, string]} */ ([name, name]));
    const needsModel = app.state.view !== 'compare' && app.state.view !== 'lesson';
    fill(
        tools,
        needsModel && models.length > 0 ? picker('model', models, app.state.model, choose) : null,
        button('?', () => openHelp(), { class: 'quiet round', 'aria-label': 'Keys', title: 'Keys (?)' }),
        button('◐', () => (toggle(), drawHead()), {
            class: 'quiet round',
            'aria-label': 'Light or dark',
            title: 'Light or dark',
        }),
    );
}

/** A model that looks at something, to begin with. */
function firstModel() {
    return (
        app.models.find((model) => model.name === 'attention') ??
        app.models.find((model) => model.attention) ??
        app.models[0]
    );
}

async function start() {
    const working = new Working();
    fill(main, working.element, h('p', { class: 'hint waiting' }, 'Loading the list of models …'));
    const got = await working.run((signal) => get('models', signal));
    app.models = got.models;
    if (!app.model()) app.state.model = firstModel()?.name ?? '';
    if (app.models.length === 0)
        fill(
            main,
            h('p', { class: 'error' }, 'No model is served. Start the server with one: regard serve MODEL'),
        );
    render();
}

listen((event) => {
    if (event.key === '?') return openHelp();
    const name = Object.keys(VIEWS)[Number(event.key) - 1];
    if (name) app.set({ view: name }, 'push');
    return name !== undefined || (view?.key?.(event) ?? false);
});
addEventListener('popstate', () => {
    clearTimeout(timer);
    const model = app.state.model;
    app.state = read(location.search);
    if (!app.model()) app.state.model = firstModel()?.name ?? model;
    render();
});
follow();
drawHead();
start();
