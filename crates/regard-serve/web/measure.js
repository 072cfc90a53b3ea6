// How wide words are, so that pictures can be laid out before they are drawn.

const pen = document.createElement('canvas').getContext('2d');

/**
 * Width in pixels.
 * @param {string} text
 * @param {number} size of the font in pixels
 */
export function width(text, size) {
    if (!pen) return text.length * size * 0.6;
    pen.font = `${size}px ${getComputedStyle(document.documentElement).getPropertyValue('--serif')}`;
    return pen.measureText(text).width;
}

/** `text`, or as much of it as fits, with an ellipsis. @param {string} text @param {number} size @param {number} limit */
export function fit(text, size, limit) {
    if (width(text, size) <= limit) return text;
    const letters = [...text];
    while (letters.length > 1 && width(`${letters.join('')}…`, size) > limit) letters.pop();
    return `${letters.join('')}…`;
}

/**
 * Calls `draw` when the width of `element` changes, and now.
 * @param {HTMLElement} element
 * @param {() => void} draw
 */
export function onResize(element, draw) {
    let before = -1;
    const observer = new ResizeObserver(() => {
        const now = Math.round(element.clientWidth);
        if (now !== before && now > 0) {
            before = now;
            draw();
        }
    });
    observer.observe(element);
    return () => observer.disconnect();
}
