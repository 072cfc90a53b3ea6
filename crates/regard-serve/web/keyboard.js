// Keys that work anywhere but in a field.

/** Whether keys belong to what has the focus. @param {EventTarget | null} target */
function takesKeys(target) {
    if (document.querySelector('dialog[open]')) return true;
    return (
        target instanceof HTMLElement &&
        (target.matches('input, textarea, select') || target.isContentEditable)
    );
}

/**
 * @param {(event: KeyboardEvent) => boolean} handle says whether it used the key
 */
export function listen(handle) {
    document.addEventListener('keydown', (event) => {
        if (
            event.defaultPrevented ||
            event.ctrlKey ||
            event.metaKey ||
            event.altKey ||
            takesKeys(event.target)
        )
            return;
        if (handle(event)) event.preventDefault();
    });
}
