/**
 * A workload file: the same URLs, byte for byte, for every side in every language (docs/formats/workload.md).
 *
 *   outrider-workload 1\n
 *   {"kind":"crawl","urls":50000,…}\n            the recipe: it alone decides all that follows
 *   https://…\n                                  one URL a line, `urls` of them
 *   #{"distinct":12210,"bytes":3291004,"crc32":"89abcdef"}\n
 *
 *   I1  Two lines are the same page when their bytes are equal, and never otherwise, under any canonical form that knows
 *       default ports, letter case, dot segments and the order of parameters.
 *   I2  The checksum is of every byte before the last line; `bytes` is that of the URLs without their line ends.
 *
 * Crash: a file is written beside its name and renamed, so that one under its name is whole.
 */
import { closeSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { Recipe, UrlSource } from "./generate.ts";

export const WORKLOAD_MAGIC = "outrider-workload 1";
const CHUNK_URLS = 20_000;
const READ_BYTES = 1 << 20;
const LINE_END = 10;
const MARK = "#".charCodeAt(0);

export interface WorkloadFoot {
  readonly distinct: number;
  readonly bytes: number;
  readonly crc32: string;
}

/** Writes all URLs of a source. Where two do so at once, both write the same and one wins. */
export function writeWorkload(path: string, recipe: Recipe, source: UrlSource): WorkloadFoot {
  const fresh = `${path}.${process.pid}`;
  const file = openSync(fresh, "w");
  let sum = 0;
  let bytes = 0;
  const say = (text: string): number => {
    const chunk = Buffer.from(text);
    sum = crc32(chunk, sum);
    for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
    return chunk.length;
  };
  try {
    say(`${WORKLOAD_MAGIC}\n${JSON.stringify(recipe)}\n`);
    for (let left = recipe.urls; left > 0; ) {
      const urls = source.next(Math.min(CHUNK_URLS, left));
      if (urls.length === 0) throw new Error(`workload: ${left} URLs short (expected: none)`);
      left -= urls.length;
      bytes += say(`${urls.join("\n")}\n`) - urls.length;
    }
    const foot: WorkloadFoot = { distinct: source.distinct(), bytes, crc32: hex(sum) };
    writeSync(file, `#${JSON.stringify(foot)}\n`);
    renameSync(fresh, path);
    return foot;
  } finally {
    closeSync(file);
  }
}

export interface WorkloadReader {
  readonly recipe: Recipe;
  /** Up to `max` URLs, as flat strings; none at the end, where the checksum was right. */
  next(max: number): string[];
  /** Known at the end. */
  foot(): WorkloadFoot;
  close(): void;
}

/** Opens a file; throws for one that is not of this format, is cut off or has another checksum. */
export function readWorkload(path: string): WorkloadReader {
  const lines = linesOf(path);
  const fail = (what: string): Error => new Error(`${path}: ${what}`);
  const magic = lines.next();
  if (magic !== WORKLOAD_MAGIC) throw fail(`begins ${magic} (expected: ${WORKLOAD_MAGIC})`);
  const recipe = JSON.parse(lines.next() ?? "") as Recipe;
  let left = recipe.urls;
  let foot: WorkloadFoot | undefined;
  return {
    recipe,
    next(max) {
      const urls: string[] = [];
      while (urls.length < max && left > 0) {
        const url = lines.next();
        if (url === undefined || url.charCodeAt(0) === MARK) throw fail(`${left} URLs are missing`);
        urls.push(url);
        left--;
      }
      if (left === 0 && foot === undefined) {
        const sum = hex(lines.sum());
        const last = lines.next();
        if (last === undefined || !last.startsWith("#{")) throw fail("has no last line");
        foot = JSON.parse(last.slice(1)) as WorkloadFoot;
        if (foot.crc32 !== sum) throw fail(`checksum ${sum} (expected: ${foot.crc32})`);
      }
      return urls;
    },
    foot() {
      if (foot === undefined) throw fail("is not read to its end");
      return foot;
    },
    close: () => lines.close(),
  };
}

interface Lines {
  next(): string | undefined;
  /** Of all bytes that `next` has given so far. */
  sum(): number;
  close(): void;
}

function linesOf(path: string): Lines {
  const file = openSync(path, "r");
  let room = Buffer.alloc(2 * READ_BYTES);
  let [start, end, summed, sum] = [0, 0, 0, 0];
  const settle = (): number => {
    sum = crc32(room.subarray(summed, start), sum);
    summed = start;
    return sum;
  };
  const more = (): boolean => {
    settle();
    room.copy(room, 0, start, end);
    [end, start, summed] = [end - start, 0, 0];
    if (end === room.length) room = Buffer.concat([room, Buffer.alloc(room.length)]);
    const size = readSync(file, room, end, room.length - end, null);
    end += size;
    return size > 0;
  };
  return {
    next() {
      let from = start;
      for (;;) {
        const stop = room.subarray(0, end).indexOf(LINE_END, from);
        if (stop >= 0) {
          // A URL is ASCII: a string of its own, which holds no chunk alive.
          const line = room.latin1Slice(start, stop);
          start = stop + 1;
          return line;
        }
        from = end - start;
        if (!more()) return undefined;
      }
    },
    sum: settle,
    close: () => closeSync(file),
  };
}

function hex(sum: number): string {
  return (sum >>> 0).toString(16).padStart(8, "0");
}
