/**
 * Digest files: SHA-1 digests of another program's requests, which count as seen here (docs/formats/digests.md).
 *
 *   word  0    1       2        3       4 …
 *         crc  "SHA1"  version  count   { digest: 20 bytes }     ascending, each once
 *
 *   I1  A file is written whole under a serial of its own and never changed; the note `visited` names the file that counts.
 *   I2  A file counts whole or not at all: anything else is SNAPSHOT_CORRUPT, which names it.
 *
 * Crash: leaves a file that no note names; the next start removes it.
 */
import { crc32 } from "node:zlib";
import { join } from "node:path";
import { readFile, replaceFile } from "../files.ts";
import { damaged, type Place, otherFormat } from "../directory/frontier-directory.ts";

export const DIGEST_BYTES = 20;
/** The note that names the file, by its serial. */
export const VISITED_NOTE = "visited";

const MAGIC = 0x31414853;
const VERSION = 1;
const HEAD_WORDS = 4;
const HEAD_BYTES = HEAD_WORDS * 4;
/** Digests are placed by their first two bytes, and sorted within each such bucket. */
const BUCKETS = 65_536;

export function digestPath(place: Place, serial: number): string {
  return join(place.directory, `digests-${String(serial).padStart(8, "0")}.sha1`);
}

/** Paths of all digest files of a place. */
export function digestPaths({ files, directory }: Place): string[] {
  if (!files.exists(directory)) return [];
  const names = files.list(directory).filter((name) => /^digests-\d+\.sha1(\.tmp)?$/.test(name));
  return names.map((name) => join(directory, name));
}

/** Writes sorted digests; they are durable on return. */
export function writeDigests(place: Place, serial: number, digests: Uint8Array): void {
  const bytes = new Uint8Array(HEAD_BYTES + digests.length);
  bytes.set(digests, HEAD_BYTES);
  const words = new Uint32Array(bytes.buffer, 0, HEAD_WORDS);
  words.set([0, MAGIC, VERSION, digests.length / DIGEST_BYTES]);
  words[0] = crc32(bytes.subarray(4));
  replaceFile(place.files, digestPath(place, serial), bytes);
}

/** The digests of a file, checked. Throws SNAPSHOT_CORRUPT or FORMAT_UNSUPPORTED. */
export function readDigests(place: Place, path: string): Uint8Array {
  const bytes = readFile(place.files, path);
  if (bytes === undefined) throw damaged(path, 0, "missing");
  if (bytes.length < HEAD_BYTES) throw damaged(path, 0, "incomplete header");
  const [crc, magic, version, count = 0] = new Uint32Array(bytes.buffer, 0, HEAD_WORDS);
  if (crc !== crc32(bytes.subarray(4))) throw damaged(path, 0, "wrong checksum");
  if (magic !== MAGIC) throw damaged(path, 4, "wrong magic");
  if (version !== VERSION) throw otherFormat(path, `version ${version}`, `version ${VERSION}`);
  if (bytes.length !== HEAD_BYTES + count * DIGEST_BYTES) throw damaged(path, 12, "another size");
  return bytes.subarray(HEAD_BYTES);
}

/** Returns the digests ascending, each once. */
export function sortDigests(digests: Uint8Array): Uint8Array {
  const starts = digestStarts(digests);
  const placed = Buffer.alloc(digests.length);
  const next = starts.slice();
  for (let at = 0; at < digests.length; at += DIGEST_BYTES) {
    const bucket = bucketOf(digests, at);
    const to = next[bucket] as number;
    next[bucket] = to + 1;
    placed.set(digests.subarray(at, at + DIGEST_BYTES), to * DIGEST_BYTES);
  }
  const sorted = Buffer.alloc(digests.length);
  let size = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const same: Buffer[] = [];
    for (let at = starts[bucket] as number; at < (starts[bucket + 1] as number); at++)
      same.push(placed.subarray(at * DIGEST_BYTES, (at + 1) * DIGEST_BYTES));
    same.sort(Buffer.compare);
    for (const [at, digest] of same.entries()) {
      if (at > 0 && digest.equals(same[at - 1] as Buffer)) continue;
      sorted.set(digest, size);
      size += DIGEST_BYTES;
    }
  }
  return Uint8Array.from(sorted.subarray(0, size));
}

/** For each two first bytes, the number of digests before them. */
export function digestStarts(digests: Uint8Array): Uint32Array {
  const starts = new Uint32Array(BUCKETS + 1);
  for (let at = 0; at < digests.length; at += DIGEST_BYTES) {
    const after = bucketOf(digests, at) + 1;
    starts[after] = (starts[after] as number) + 1;
  }
  for (let bucket = 0; bucket < BUCKETS; bucket++)
    starts[bucket + 1] = (starts[bucket + 1] as number) + (starts[bucket] as number);
  return starts;
}

export function bucketOf(digests: Uint8Array, at: number): number {
  return ((digests[at] as number) << 8) | (digests[at + 1] as number);
}
