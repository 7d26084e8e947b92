/** ThreadLease: a lease of a frontier that another thread owns. Its methods are made from the list of those that cross. */
import { INSPECT, type Inspect, plainLease, shownLease } from "../../base/plain-copy.ts";
import type { AsyncLease } from "../types/async-frontier.ts";
import type { CallChannel } from "./call-channel.ts";
import { type Crossing, LEASE_METHODS } from "./thread-methods.ts";
import type { PlainLease } from "./thread-messages.ts";

export class ThreadLease {
  declare deadlineMs: number;
  declare readonly number: number;
  readonly #channel: CallChannel;

  static {
    for (const [method, crossing] of Object.entries<Crossing>(LEASE_METHODS)) {
      const name = method === "dispose" ? Symbol.asyncDispose : method;
      const value = function (this: ThreadLease, ...args: unknown[]): Promise<unknown> {
        return this.#call(method, args, crossing);
      };
      Object.defineProperty(ThreadLease.prototype, name, { value });
    }
  }

  constructor(channel: CallChannel, plain: PlainLease) {
    Object.assign(this, plain);
    this.#channel = channel;
  }

  /** The number that a line's owner finds it by; undefined: it is another's. */
  numberOn(channel: CallChannel): number | undefined {
    return channel === this.#channel ? this.number : undefined;
  }

  /** What `console.log` shows. */
  [INSPECT](depth: number, options: object, inspect: Inspect): string {
    return shownLease(this as never, depth, { options, inspect });
  }

  /** What a log of JSON shows. @internal */
  toJSON(): object {
    return plainLease(this as never);
  }

  /** The owner answers with the deadline too, unless it has forgotten the lease. */
  async #call(method: string, args: readonly unknown[], crossing: Crossing): Promise<unknown> {
    const { unpack = (value: unknown) => value, ...sending } = crossing;
    const call = { on: "lease", key: this.number, method, args } as const;
    const answer = await this.#channel.cross(call, sending);
    const { value, deadlineMs } = answer as { value: never; deadlineMs?: number };
    if (deadlineMs !== undefined) this.deadlineMs = deadlineMs;
    return unpack(value, () => undefined);
  }
}

export function threadLease(channel: CallChannel, plain: PlainLease): AsyncLease {
  return new ThreadLease(channel, plain) as unknown as AsyncLease;
}
