// Repainting a row: each pass over a cell gives it one more share of the weight.

export class Brush {
    /** @param {number} row where it stays @param {number} column where it begins */
    constructor(row, column) {
        this.row = row;
        this.last = column;
        this.counts = new Map([[column, 1]]);
    }

    /** @param {number} column */
    touch(column) {
        if (column !== this.last) this.counts.set(column, (this.counts.get(column) ?? 0) + 1);
        this.last = column;
    }

    /** The weights of the row, which sum to 1. @param {number} columns */
    weights(columns) {
        const sum = [...this.counts.values()].reduce((a, b) => a + b, 0);
        return Array.from({ length: columns }, (_, j) => (this.counts.get(j) ?? 0) / sum);
    }
}
