/**
 * PushQueue: bounds what pushes have under way, however many a caller makes without waiting.
 *
 *   single requests ─▶ gathered while those before are under way ─▶ a batch, in their order ─┐
 *   batches ────────────────────────────────────────────────────────────────────────────────┴─▶ a few at once; others wait
 *
 *   I1  What waits holds no more than what the caller passed.
 */
import type { PlainRequest } from "../../../base/request-types.ts";
import { VERDICT_CLOSED } from "../../../frontier/admission/verdicts.ts";

/** Batches under way at once. */
const BATCHES_MAX = 8;
/** Single requests of a batch: about as many as the scripts of 16 partitions take in one call each. */
const SINGLES_MAX = 1_792;

interface Single {
  readonly request: PlainRequest;
  resolve(code: number): void;
  reject(cause: unknown): void;
}

export class PushQueue {
  readonly #push: (list: readonly PlainRequest[]) => Promise<Uint8Array>;
  #singles: Single[] = [];
  #isSending = false;
  #isClosed = false;
  #count = 0;
  readonly #turns: Array<() => void> = [];
  readonly #idle: Array<() => void> = [];

  constructor(push: (list: readonly PlainRequest[]) => Promise<Uint8Array>) {
    this.#push = push;
  }

  /** The code of one request. */
  one(request: PlainRequest): Promise<number> {
    if (this.#isClosed) return Promise.resolve(VERDICT_CLOSED);
    return new Promise((resolve, reject) => {
      this.#singles.push({ request, resolve, reject });
      if (!this.#isSending) void this.#sendSingles();
    });
  }

  /** Codes of a batch. */
  async many(list: readonly PlainRequest[]): Promise<Uint8Array> {
    return this.#isClosed ? allClosed(list.length) : await this.#send(list);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What comes from now on is answered with the verdict `closed`; what is under way continues. */
  close(): void {
    this.#isClosed = true;
  }

  async #send(list: readonly PlainRequest[]): Promise<Uint8Array> {
    if (++this.#count > BATCHES_MAX)
      await new Promise<void>((resolve) => void this.#turns.push(resolve));
    try {
      return await this.#push(list);
    } finally {
      this.#count--;
      this.#turns.shift()?.();
      this.#rouse();
    }
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#count > 0 || this.#isSending)
      await new Promise<void>((resolve) => void this.#idle.push(resolve));
  }

  #rouse(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #sendSingles(): Promise<void> {
    this.#isSending = true;
    while (this.#singles.length > 0) {
      const all = this.#singles;
      this.#singles = [];
      for (let at = 0; at < all.length; at += SINGLES_MAX) {
        const some = all.slice(at, at + SINGLES_MAX);
        try {
          const codes = await this.#send(some.map(({ request }) => request));
          some.forEach(({ resolve }, index) => void resolve(codes[index] as number));
        } catch (cause) {
          for (const { reject } of some) reject(cause);
        }
      }
    }
    this.#isSending = false;
    this.#rouse();
  }
}

/** The codes of so many requests that come after the end. */
export function allClosed(length: number): Uint8Array {
  return new Uint8Array(length).fill(VERDICT_CLOSED);
}
