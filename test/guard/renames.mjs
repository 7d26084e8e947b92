/**
 * The small map: what "The house" and "One ledger" change on purpose. The old package's word stands on the left, the new one's on the
 * right. A line here is a change of the public surface: it stands in UPGRADING.md too.
 */

/** Entries: `"./crawl": "./crawler"`. */
export const ENTRIES = {};

/** Exports: `".#exportFrontier": "./tools#exportFrontier"`. */
export const EXPORTS = {};

/** Methods and properties of a frontier, a lease, a host: `{ frontier: { rules: "ruleSet" } }`. */
export const MEMBERS = { frontier: {}, lease: {}, host: {} };

/** Options, by their names at the top: `{ maxFound: "maxChildren" }`. */
export const OPTIONS = {};

/** Codes, reasons, states, statuses, names of events and of fields, wherever they stand in an answer; the new word is the key. */
export const WORDS = {};

/** Fields of `report()` that may differ: bytes, and the time of the machine. */
export const REPORT_IGNORED = {
  memory: true,
  durability: true,
  seenSet: { bytes: true, bitsPerUrl: true },
};

/** Lines of `report().toString()` that may differ, by their first word. */
export const REPORT_LINES_IGNORED = ["seen-set", "memory"];
