/** Lines of an import: read as URLs, requests or parts of an export, wherever they go. */
import { FrontierError } from "../../base/errors.ts";
import { isExportHead } from "../../persistence/transfer/import-sections.ts";
import type { Line } from "../../persistence/transfer/export-lines.ts";

const LINES_PER_WORD = 4_096;

/** Lines that are not empty: objects where they are JSON. */
export async function* parsedLines(
  lines: AsyncIterable<string> | Iterable<string>,
  { visited, onProgress }: { visited: number; onProgress: ((lines: number) => void) | undefined },
): AsyncGenerator<Line | string> {
  let number = 0;
  let isExport = false;
  for await (const line of lines) {
    if (++number % LINES_PER_WORD === 0) onProgress?.(number);
    const text = line.trim();
    if (text === "" && number > visited) continue; // those before count
    const one: Line | string = text.startsWith("{") ? parsed(text, number, isExport) : text;
    isExport ||= typeof one === "object" && isExportHead(one);
    yield one;
  }
  onProgress?.(number);
}

function parsed(text: string, number: number, isExport: boolean): Line {
  try {
    return JSON.parse(text) as Line;
  } catch (cause) {
    const message = `line ${number}: no JSON (expected: a URL, or an object)`;
    const code = isExport ? "SNAPSHOT_CORRUPT" : "REQUEST_INVALID";
    throw new FrontierError(code, message, { line: number, cause });
  }
}

export async function* chained<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}

/** A fingerprint of Scrapy's `requests.seen`. */
export function isDigest(line: Line | string): line is string {
  return typeof line === "string" && /^[0-9a-f]{40}$/i.test(line);
}
