/**
 * Room `src/crawl/notes`: what a crawl remembers of URLs beside its frontier, bounded, and over restarts. No lease, no network.
 */

/**
 * DurableLines: a file of notes about visits, each written only once the end of its visit is durable in the frontier.
 *
 *   add(key, line) ─▶ held ─▶ a flush that began after it has ended ─▶ appended ─▶ too many lines: rewritten from what is known
 *
 *   I1  No line is in the file whose visit a crash may undo.
 *   I2  Bounded: beyond `lineMax` lines the file is rewritten.
 */
import type { Clock } from "../../base/clock.ts";
import type { LineFile } from "../files.ts";

/** The list that a line holds as JSON; empty where it holds none. */
export function listOf(line: string): readonly unknown[] {
  try {
    const given: unknown = JSON.parse(line);
    return Array.isArray(given) ? given : [];
  } catch {
    return [];
  }
}

export type DurableLines = ReturnType<typeof createDurableLines>;

interface DurableLinesOptions {
  readonly clock: Clock;
  readonly file: LineFile;
  /** Lines that it holds. */
  readonly lineCount: number;
  readonly lineMax: number;
  /** Lines of everything that is known, but for keys whose visits are not durable yet. */
  readonly linesWithout: (early: ReadonlySet<string>) => string[];
}

export function createDurableLines(options: DurableLinesOptions) {
  const { clock, file, lineMax, linesWithout } = options;
  const unwritten: Array<{ key: string; line: string; atMs: number }> = [];
  let flushedAt = Number.NEGATIVE_INFINITY;
  let { lineCount } = options;
  const compact = (): void => {
    const lines = linesWithout(new Set(unwritten.map(({ key }) => key)));
    file.rewrite(lines);
    lineCount = lines.length;
  };
  return {
    /** Rewrites the file. */
    compact,
    add: (key: string, line: string): void => void unwritten.push({ key, line, atMs: clock.now() }),
    /** A flush ended at that time; Infinity: everything is durable. */
    flushed(atMs: number): void {
      if (atMs <= flushedAt) return;
      // A flush that ended after the previous one began after it: everything added until then is durable.
      const until = atMs === Number.POSITIVE_INFINITY ? atMs : flushedAt;
      flushedAt = atMs;
      const count = unwritten.findIndex((each) => each.atMs >= until);
      const ready = unwritten.splice(0, count < 0 ? unwritten.length : count);
      if (ready.length === 0) return;
      file.append(ready.map(({ line }) => line));
      lineCount += ready.length;
      if (lineCount > lineMax) compact();
    },
  };
}
