/**
 * RecentDuplicates: identities that the server is known to have seen, so that most known links of a page never reach the network.
 * Of fixed size; a newer one takes the place of an older one. Never wrong about a duplicate until `forget`, which clears it.
 */
const SLOTS = 1 << 17;
/** Words of a slot: three of the fingerprint, and the least depth at which it was seen. */
const WORDS = 4;
const EMPTY = 0xffff_ffff;

/** What a client remembers of duplicates. */
export type Recent = Pick<RecentDuplicates, "clear" | "has" | "add">;

/** Remembers nothing: the server recognises each duplicate, so that what another process forgets is new at once. */
export const NOTHING_RECENT: Recent = Object.freeze({
  clear: () => undefined,
  has: () => false,
  add: () => undefined,
});

export class RecentDuplicates {
  readonly #words = new Uint32Array(SLOTS * WORDS);

  constructor() {
    this.clear();
  }

  clear(): void {
    this.#words.fill(0);
    for (let at = 3; at < this.#words.length; at += WORDS) this.#words[at] = EMPTY;
  }

  /** Whether a push of the fingerprint there changes nothing but counts. */
  has(bytes: Buffer, from: number, depth: number): boolean {
    const at = slotOf(bytes, from);
    const words = this.#words;
    const least = words[at + 3] as number;
    if (least === EMPTY || depth < least) return false;
    return (
      words[at] === bytes.readUInt32LE(from + 4) &&
      words[at + 1] === bytes.readUInt32LE(from + 8) &&
      words[at + 2] === bytes.readUInt32LE(from + 12)
    );
  }

  add(bytes: Buffer, from: number, depth: number): void {
    const at = slotOf(bytes, from);
    const words = this.#words;
    words[at] = bytes.readUInt32LE(from + 4);
    words[at + 1] = bytes.readUInt32LE(from + 8);
    words[at + 2] = bytes.readUInt32LE(from + 12);
    words[at + 3] = depth;
  }
}

function slotOf(bytes: Buffer, from: number): number {
  return (bytes.readUInt32LE(from) % SLOTS) * WORDS;
}
