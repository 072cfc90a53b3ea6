// The shapes that the modules share, for readers and for `tsc --checkJs`; nothing here runs.

/** @typedef {'cross' | 'encoder_self' | 'decoder_self'} SiteName */
/** @typedef {{site: SiteName, layer: number, head: number}} Site */
/**
 * @typedef {object} Model
 * @property {string} name
 * @property {'fixed_vector' | 'attention' | 'transformer'} kind
 * @property {string} [source_language]
 * @property {string} [target_language]
 * @property {number} parameters
 * @property {boolean} attention
 * @property {Site[]} sites
 */
/**
 * @typedef {object} Translation
 * @property {string} text
 * @property {string[]} tokens
 * @property {number} score
 * @property {number} log_prob
 * @property {number} length
 * @property {boolean} finished
 * @property {number[]} token_log_probs
 * @property {number[][]} [alignment]
 * @property {number[][]} [attention]
 */
/** @typedef {{source_tokens: string[], translations: Translation[]}} Translations */
/** @typedef {Site & {weights: number[][], scores?: (number | null)[][]}} SiteWeights */
/** @typedef {{token: string, log_prob: number, log_prob_after: number, tvd: number, jsd: number}} EffectStep */
/**
 * @typedef {object} Effect
 * @property {string[]} spec
 * @property {string} text
 * @property {string[]} target_tokens
 * @property {number | null} [first_change]
 * @property {EffectStep[]} steps
 */
/**
 * @typedef {object} Look
 * @property {string[]} source_tokens
 * @property {string[]} target_tokens
 * @property {number[]} [source_unknown]
 * @property {number[]} [target_unknown]
 * @property {string} text
 * @property {number} log_prob
 * @property {number[]} token_log_probs
 * @property {SiteWeights[]} sites
 * @property {Effect} [intervention]
 */
/**
 * @typedef {object} TreeNode
 * @property {number} id
 * @property {number | null} parent
 * @property {number} step
 * @property {string} token
 * @property {number} log_prob
 * @property {number} score
 * @property {string} fate
 * @property {string} [reason]
 * @property {boolean} best
 */
/**
 * @typedef {object} LengthBucket
 * @property {number} from
 * @property {number | null} to
 * @property {number} lines
 * @property {number | null} score
 * @property {number | null} low
 * @property {number | null} high
 */
/**
 * @typedef {object} AuditTest
 * @property {string} name
 * @property {string} [site]
 * @property {number | null} value
 * @property {number | null} [low]
 * @property {number | null} [high]
 * @property {number | null} [baseline]
 * @property {string} definition
 */
/**
 * @typedef {object} Audit
 * @property {string} model
 * @property {number} sentences
 * @property {number} steps
 * @property {Record<string, unknown>} settings
 * @property {AuditTest[]} tests
 * @property {string} verdict
 * @property {string[]} limits
 */
/** @typedef {{done: number, total: number, state: string, result?: Audit, error?: string}} Job */

/**
 * A word as the page shows it: `text`, and the tokens `from` to `to` (not included) that it is made of.
 * @typedef {{text: string, from: number, to: number}} Word
 */

/**
 * A matrix as it is drawn: a row a target word, a column a source word.
 * @typedef {{rows: Word[], columns: Word[], weights: number[][]}} Grid
 */

/**
 * What the address bar holds: everything that makes the page look as it does.
 * @typedef {object} State
 * @property {string} view
 * @property {string} model
 * @property {string} text
 * @property {number} n which of the n-best translations
 * @property {string} figure matrix, links, heads or tree
 * @property {SiteName} site
 * @property {number | null} layer the last one where null
 * @property {number | null} head the mean of all where null
 * @property {'words' | 'pieces'} units
 * @property {number | null} at the target word that Next has reached
 * @property {string} pick a selected word: `s3` or `t2`, or nothing
 * @property {number} temperature
 * @property {'redraw' | 'decode'} mode what the temperature does
 * @property {string[]} edits each an intervention, or `prefix:` and words
 * @property {string[]} models the columns of Compare
 * @property {number} lesson the step, from 1
 */

/**
 * What a view gets from the page.
 * @typedef {object} App
 * @property {State} state
 * @property {Model[]} models
 * @property {(changes: Partial<State>, entry?: 'push' | 'replace') => void} set
 * @property {() => Model | undefined} model the model that is chosen
 */

/**
 * A view: what it shows, how it follows the state, and what it lets go of at its end.
 * @typedef {{element: HTMLElement, update: () => void, key?: (event: KeyboardEvent) => boolean, close?: () => void}} View
 */

export {};
