/** RingFault: a ring holds what no producer writes. Shared memory was overwritten, and nothing after it is read. */
export class RingFault extends Error {
  constructor(what: string) {
    super(`ring: ${what} (expected: what this version writes; shared memory was written over)`);
    this.name = "RingFault";
  }
}
