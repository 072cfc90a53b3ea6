// Screenshots of every view at three widths, light and dark, into the directory SHOTS, to be looked at.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Harness } from './harness.mjs';

const OUT = process.env.SHOTS ?? 'shots';
const SIZES = [
    [390, 844],
    [1280, 800],
    [1920, 1080],
];
const press = (label) => (page) => page.click(`text=${label}`);
/** Name, address, and what to do before the picture is taken. */
const VIEWS = [
    ['translate', ''],
    ['translate-next', '?at=2'],
    ['translate-nbest', '', (page) => page.click('.nbest summary')],
    ['translate-hot', '?t=3&mode=decode'],
    ['links', '?figure=links&pick=t2&model=transformer'],
    ['heads', '?figure=heads&model=transformer'],
    ['tree', '?figure=tree', (page) => page.click('.tree .label.best >> nth=2')],
    ['what-if', '?view=what_if&edit=remove:src=1@step=all'],
    [
        'what-if-menu',
        '?view=what_if',
        async (page) => (await page.focus('.original-figure .matrix'), page.keyboard.press('Enter')),
    ],
    ['fixed-vector', '?model=fixed_vector'],
    ['compare', '?view=compare'],
    ['audit', '?view=audit'],
    ['lesson-1', '?view=lesson&step=1', press('Measure every length')],
    ['lesson-2', '?view=lesson&step=2'],
    ['lesson-3', '?view=lesson&step=3'],
    ['lesson-4', '?view=lesson&step=4', press('Decode ten sentences')],
    [
        'lesson-5',
        '?view=lesson&step=5',
        (page) => page.click('.crossing [aria-label^=Source] .word >> nth=0'),
    ],
    ['lesson-6', '?view=lesson&step=6', press('Remove “chair” everywhere')],
    ['lesson-7', '?view=lesson&step=7'],
    ['lesson-8', '?view=lesson&step=8', press('Take them away')],
    ['hebrew', `?text=${encodeURIComponent('הילדה קוראת ספר חדש בגינה')}&pick=t1`],
    ['chinese', `?text=${encodeURIComponent('黑 猫 睡 在 红 椅子 上')}&figure=links&pick=t1`],
    [
        'long',
        `?text=${encodeURIComponent(Array(7).fill('the small black cat often sees this bird').join(' and '))}&at=20`,
    ],
];

const harness = await Harness.open();
await mkdir(OUT, { recursive: true });
const only = process.argv[2];
for (const [width, height] of SIZES) {
    for (const colorScheme of ['light', 'dark']) {
        for (const [name, query, act] of VIEWS.filter(([view]) => !only || view.startsWith(only))) {
            const { page } = await harness.page(query, {
                viewport: { width, height },
                colorScheme,
                reducedMotion: 'reduce',
            });
            await page.waitForLoadState('networkidle');
            await act?.(page);
            await page.waitForLoadState('networkidle');
            await page.waitForTimeout(250);
            // Taking the whole page resizes the window, and that closes a menu.
            await page.screenshot({
                path: join(OUT, `${name}-${width}-${colorScheme}.png`),
                fullPage: name !== 'what-if-menu',
            });
            await page.context().close();
        }
    }
}
await harness.close();
