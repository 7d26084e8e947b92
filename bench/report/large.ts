/**
 * Sizes that are too large for the suite, for bench/results/README.md: each number of the newest calm run that has it, as in TARGETS.md.
 *
 *   results/<time>-<commit>-<case>.json ─▶ rows, each with the day and the commit of its run
 *
 *   I1  A row without a calm run is left out: nothing here was measured beside something else.
 */
import { isCalm, type KeptRun, type Reading, readingOf, type Source } from "./targets.ts";

interface LargeRow {
  readonly what: string;
  readonly at: string;
  readonly of: readonly Source[];
}

const ROWS: readonly LargeRow[] = [
  {
    what: "canonical form, hash, exact dedup against `URL` and `Set`",
    at: "10⁷ URLs",
    of: [{ case: "dedup", params: { urls: 1e7 }, ratio: ["outrider", "plain", "time"] }],
  },
  {
    what: "64-bit hashes alone against `Set<string>`",
    at: "10⁷ URLs",
    of: [{ case: "hash-set", params: { urls: 1e7 }, ratio: ["outrider", "set", "time"] }],
  },
  {
    what: "push, and poll + done, against Crawlee's `RequestQueue`",
    at: "10⁵ pending",
    of: [
      { case: "frontier", params: { pending: 1e5 }, ratio: ["outrider", "crawlee", "push"] },
      { case: "frontier", params: { pending: 1e5 }, ratio: ["outrider", "crawlee", "poll"] },
    ],
  },
  {
    what: "polite poll + done at 10⁶ hosts against 10²",
    at: "2·10⁶ pending",
    of: [{ case: "scale-hosts", params: { many: 1e6 }, ratio: ["many", "few", "poll + done"] }],
  },
  {
    what: "push with a directory, `{ everyMs }` and `sync`",
    at: "10⁶ URLs",
    of: [
      { case: "durability", params: { urls: 1e6 }, rate: ["everyMs", "push"] },
      { case: "durability", params: { urls: 1e6 }, rate: ["sync", "push"] },
    ],
  },
  {
    what: "one crawl on one thread, its web on the other core; JavaScript heap at half of it",
    at: "10⁶ pages",
    of: [
      { case: "crawl", params: { pages: 1e6 }, rate: ["outrider", "page"] },
      {
        case: "crawl",
        params: { pages: 1e6 },
        fact: ["outrider", "heap MB at 524288"],
        unit: " MB",
      },
    ],
  },
];

interface LargeReading {
  readonly row: LargeRow;
  readonly found: readonly Reading[];
}

/** Each row of which the calm runs have all numbers. */
export function largeReadings(calm: readonly KeptRun[]): LargeReading[] {
  return ROWS.flatMap((row) => {
    const found = row.of.flatMap((source) => readingOf(source, calm) ?? []);
    return found.length === row.of.length ? [{ row, found }] : [];
  });
}

/** The head first; nothing but it where no run is as large. */
export function largeRows(runs: readonly KeptRun[]): string[][] {
  const rows = largeReadings(runs.filter(isCalm)).map(({ row: { what, at }, found }) => {
    const { at: when, machine } = (found[0] as Reading).kept;
    const told = found.map(({ text }) => text).join(", ");
    return [what, at, told, `${when.slice(0, 10)}, ${machine.commit}`];
  });
  return [["what", "at", "measured", "when, commit"], ...rows];
}
