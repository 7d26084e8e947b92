/**
 * ScrapyDigests: requests that Scrapy has seen, recognised by the digests that its duplicate filter kept (`requests.seen`).
 *
 *   push, profile w3lib ─▶ method, w3lib key, body ─▶ SHA-1, as either fingerprinter makes it ─▶ among the digests: duplicate
 *
 *   2.6   SHA-1 of method, canonical URL and body, concatenated
 *   2.7   SHA-1 of {"body": hex, "headers": {}, "method": …, "url": …} as JSON
 *
 * Sorted digests in one buffer off the heap, found by their first two bytes and halving: nothing is approximate. Only requests that
 * would be looked up in the epoch without end are asked for: others are new by intent. A new generation forgets all of them.
 */
import { sha1 } from "../../persistence/transfer/request-digest.ts";
import type { Admission } from "../../frontier/admission/admission-input.ts";
import type { RuleState } from "../../frontier/core.ts";
import {
  bucketOf,
  DIGEST_BYTES,
  digestPath,
  digestPaths,
  digestStarts,
  readDigests,
  sortDigests,
  VISITED_NOTE,
} from "../../persistence/transfer/digest-file.ts";
import { packr } from "../../persistence/msgpack.ts";
import type { Place } from "../../persistence/directory/frontier-directory.ts";
import type { RequestInput } from "../types/frontier-types.ts";

export interface ScrapyDigests {
  /** Ascending, each once. */
  readonly digests: Uint8Array;
  readonly starts: Uint32Array;
}

/** What the note holds. */
export interface VisitedNote {
  readonly serial: number;
  readonly count: number;
}

function createScrapyDigests(digests: Uint8Array): ScrapyDigests {
  return { digests, starts: digestStarts(digests) };
}

/** Those that count as seen, and more of them. */
export function joinDigests(visited: ScrapyDigests | undefined, more: Uint8Array): ScrapyDigests {
  const before = visited?.digests ?? new Uint8Array(0);
  return createScrapyDigests(sortDigests(Buffer.concat([before, more])));
}

export function digestCount(visited: ScrapyDigests | undefined): number {
  return visited === undefined ? 0 : visited.digests.length / DIGEST_BYTES;
}

/** What the notes of a directory name; files without a name there are removed. Throws SNAPSHOT_CORRUPT. */
export function restoreScrapyDigests(
  place: Place,
  notes: ReadonlyMap<string, Uint8Array> | undefined,
): ScrapyDigests | undefined {
  const packed = notes?.get(VISITED_NOTE);
  const note = packed === undefined ? undefined : (packr.unpack(packed) as VisitedNote);
  const own = note === undefined ? "" : digestPath(place, note.serial);
  const visited = note === undefined ? undefined : createScrapyDigests(readDigests(place, own));
  for (const path of digestPaths(place)) if (path !== own) place.files.remove(path);
  return visited;
}

/** Whether a request's digest is checked: not if the request is never refused, or has an epoch of its own. */
export function asksDigests(
  { dedup, epoch, depth }: Pick<Admission, "dedup" | "epoch" | "depth">,
  { key, policy }: RuleState,
): boolean {
  if (dedup !== "check" || epoch !== undefined || depth > policy.maxDepth) return false;
  return key.profile === "w3lib" && policy.epoch.kind === "forever";
}

/** Whether Scrapy saw the request. `key`: its w3lib key. */
export function isInDigests(visited: ScrapyDigests, input: RequestInput, key: string): boolean {
  const cut = key.indexOf("#");
  const url = cut < 0 ? key : key.slice(0, cut); // its fingerprints leave fragments out
  const forms = new Set([
    url,
    // Before w3lib 2.2 user info lost its case with the host.
    url.replace(/^[a-z]+:\/\/[^/?#]*@/, (start) => start.toLowerCase()),
    // Scrapy writes an IPv6 host without its brackets.
    url.replace(/^([a-z]+:\/\/)\[([^\]/]*)\]/, "$1$2"),
  ]);
  for (const form of forms) if (isInDigestsAs(visited, input, form)) return true;
  return false;
}

function isInDigestsAs(visited: ScrapyDigests, input: RequestInput, url: string): boolean {
  const method = (input.method ?? "GET").toUpperCase();
  const body = Buffer.from(input.body ?? "");
  const plain = Buffer.concat([Buffer.from(method + url, "utf8"), body]);
  if (hasDigest(visited, sha1(plain))) return true;
  const fields = [`"body": "${body.toString("hex")}"`, '"headers": {}'];
  const text = [...fields, `"method": ${ascii(method)}`, `"url": ${ascii(url)}`].join(", ");
  return hasDigest(visited, sha1(`{${text}}`));
}

function hasDigest({ digests, starts }: ScrapyDigests, digest: Buffer): boolean {
  const bucket = bucketOf(digest, 0);
  let low = starts[bucket] as number;
  let high = starts[bucket + 1] as number;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = middle * DIGEST_BYTES;
    const order = digest.compare(digests, at, at + DIGEST_BYTES);
    if (order === 0) return true;
    if (order > 0) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** JSON as Python writes it: all that is not ASCII as \\uXXXX. */
function ascii(text: string): string {
  return JSON.stringify(text).replace(/[\u0080-\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
