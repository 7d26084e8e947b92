/**
 * LockEnds: when locks end whose leases outlast them, by the ids of their requests.
 *
 *   I1  No end is earlier than `#firstMs`, so that `ended` costs nothing while there are none.
 */
export class LockEnds {
  readonly #ends = new Map<string, number>();
  #firstMs = Number.POSITIVE_INFINITY;

  get(id: string): number | undefined {
    return this.#ends.get(id);
  }

  set(id: string, endMs: number): void {
    this.#ends.set(id, endMs);
    this.#firstMs = Math.min(this.#firstMs, endMs);
  }

  delete(id: string): void {
    this.#ends.delete(id);
  }

  clear(): void {
    this.#ends.clear();
  }

  /** Locks that have ended. They stay until they are deleted, so that a caller whose work failed finds them again. */
  ended(nowMs: number): string[] {
    if (nowMs < this.#firstMs) return [];
    const ended: string[] = [];
    this.#firstMs = Number.POSITIVE_INFINITY;
    for (const [id, endMs] of this.#ends) {
      this.#firstMs = Math.min(this.#firstMs, endMs);
      if (endMs <= nowMs) ended.push(id);
    }
    return ended;
  }
}
