/**
 * The small map: what the new package changes on purpose. Each line is a change of the public surface, so it stands in UPGRADING.md too.
 * Names of methods and of their fields are a contract (docs/api) and do not change.
 */

/** Entries, old to new: `"./crawl": "./crawler"`. */
export const ENTRIES = {};

/** Exports, old to new: `".#exportFrontier": "./tools#exportFrontier"`. */
export const EXPORTS = {
  ".#exportFrontier": "./tools#exportFrontier",
  ".#importFrontier": "./tools#importFrontier",
  ".#storedOptions": "./tools#storedOptions",
  ".#verifyDirectory": "./tools#verifyDirectory",
  "./crawl#openSyntheticWeb": "./testing#openSyntheticWeb",
  "./crawl#openSyntheticWebThread": "./testing#openSyntheticWebThread",
};

/** Options of `openFrontier`, old to new: `maxFound: "maxChildren"`. */
export const OPTIONS = {};

/**
 * Whole texts and names of fields in answers, new to old: codes, reasons, states. `"rule-missing": "no-rule"`.
 */
export const WORDS = {};

/** Fields that only the new package's answers have: `"latency"`. */
export const ADDED = ["failure", "blockedUntil", "latency"];

/** Fields of live records' views that only the new package's have; the old one had them with histories alone. */
export const ADDED_TO_LIVE = ["data"];

/** Methods that only the new package has: `put`, and `hostKey` among the fields of requests and leases. They are not played. */
export const ADDED_METHODS = ["put"];

/** Notes of a directory that only the new package writes: why a record failed, and where a link was found. */
const ADDED_NOTES = /^(?:failed:|foundOn)/;

/** Among the counters of an export: identities known, which the old package counted after a restart as its last note had them (plain.mjs). */
const SEEN = /(\\?"seen\\?":)\d+/g;

/** A line of an export without them, and without the added fields of a record. */
export function exportedLine(text) {
  const line = text.replace(SEEN, "$10");
  const { failure, ...row } = JSON.parse(line);
  const notes = Object.entries(row.notes ?? {});
  const kept = notes.filter(([name]) => !ADDED_NOTES.test(name));
  if (failure === undefined && kept.length === notes.length) return line;
  return JSON.stringify(
    row.notes === undefined ? row : { ...row, notes: Object.fromEntries(kept) },
  );
}

/**
 * An operation on a directory without volatile records: the old package counted some of them wrong after a restart, and refused its own
 * journal where it forgot the epoch of one that lived. In memory they are played.
 */
export function withoutVolatile(operation) {
  if (Array.isArray(operation)) return operation.map(withoutVolatile);
  if (typeof operation !== "object" || operation === null) return operation;
  const fields = Object.entries(operation).filter(([name]) => name !== "volatile");
  return Object.fromEntries(fields.map(([name, value]) => [name, withoutVolatile(value)]));
}

/** Calls of which only the new package reads a second argument; the old one ignored it. */
export const LATER_ARGUMENTS = ["push", "pollMany"];

/** Calls that the new package refuses without a field, since the old one took that for all records. */
export const FILTERED = ["requeue", "remove"];

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const DEAD_LINK = /^(?:#?$|javascript\s*[:;]|void\s*\()/i;

/** A link of a page as a side gets it: the old package did not resolve relative ones against the lease's URL. */
export function linkFor(pkg, lease, link) {
  if (pkg.side === "new") return link;
  if (typeof link === "object" && typeof link?.url === "string") {
    return { ...link, url: linkFor(pkg, lease, link.url) };
  }
  if (typeof link !== "string" || SCHEME.test(link) || DEAD_LINK.test(link)) return link;
  return URL.canParse(link, lease.url) ? new URL(link, lease.url).href : link;
}

/** The least `maxFound` of any program. */
const MAX_FOUND = 3;

/**
 * The result that `done` gets, with its links. Where the old package cut a list at `maxFound`, it counted strings behind the cut as
 * duplicates, and it lost strings before the cut when a request with fields stood behind it. So it gets such a list as requests.
 */
export function resultFor(pkg, lease, result) {
  if (!Array.isArray(result?.found)) return result;
  const found = result.found.map((link) => linkFor(pkg, lease, link));
  const isCut = pkg.side !== "new" && found.length > MAX_FOUND;
  const requestOf = (link) => (isCut && typeof link === "string" ? { url: link } : link);
  return { ...result, found: found.map(requestOf) };
}

/**
 * Fields of `report()` that may differ: bytes and how full tables are, the time of the machine, and which records are in memory just
 * now. A batch is decided before it enters the seen-set, so that URLs refused for lack of room no longer make the table grow.
 */
export const REPORT_IGNORED = {
  memory: true,
  durability: true,
  spilled: true,
  seenSet: { bytes: true, bitsPerUrl: true, load: true },
};

/** Lines of `report().toString()` that may differ, by their first word. */
export const REPORT_LINES_IGNORED = ["seen-set", "memory", "leases"];
