/**
 * ServerLink: runs scripts on partitions, whatever the server does meanwhile.
 *
 *   EVALSHA ── NOSCRIPT ──▶ EVAL, which keeps the script; calls that found it missing too wait for that, and are sent by hash again
 *      └── the link is cut, a slot moves, a master changes, the server loads ──▶ again after a while, with the same batch
 *
 *   I1  A batch has an id and is sent with the same id until an answer comes: a script that runs again returns its first answer.
 *   I2  Waits between tries double from 20 ms to 1 s; after `giveUpMs` the call rejects with SERVER_GONE, and what became of it is unknown.
 *   I3  The same holds for a client that never settles: a connection may be dead before the client detects it.
 *   I4  `close` ends every wait at once: nothing is sent after it, and no timer outlives it.
 */
import { FrontierError, frontierClosed } from "../../../base/errors.ts";
import type { RedisCommands } from "../redis-options.ts";
import { chance, MACHINE, randomBytes, TOO_LATE, type Waits, withinMs } from "./waiting.ts";
import { type ScriptName, scriptOf } from "./scripts.ts";

export type Argument = string | Uint8Array;

/** Errors of a server, or of a disconnected client, that pass by themselves. */
const PASSING = new RegExp(
  [
    ...["TRYAGAIN", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "BUSY ", "ASK ", "MOVED "],
    ...["MISCONF", "NOREPLICAS"],
    ...["UNBLOCKED", "ECONN", "EPIPE", "ENOENT", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"],
    ...["connection is closed", "max retries", "failed to refresh slots", "socket closed"],
    ...["one of startup nodes", "root nodes are", "client is offline", "stream isn't writeable"],
  ].join("|"),
  "i",
);

/** How long a script may hold the server, as a rule. */
const CALL_MICROS = 1_200;
/** The least share: with smaller calls their fixed cost would weigh more than a slow server does. */
const SHARE_MIN = 0.7;

const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 1_000;

export interface LinkOptions {
  readonly commands: RedisCommands;
  readonly keys: readonly (readonly string[])[];
  /** Milliseconds of a test's clock as text, or "". */
  readonly now: () => string;
  readonly giveUpMs: number;
}

export class ServerLink {
  readonly commands: RedisCommands;
  readonly keys: LinkOptions["keys"];
  readonly #now: () => string;
  readonly #giveUpMs: number;
  readonly #process = randomBytes(2);
  readonly #waits: Waits = new Set();
  /** Scripts whose texts are under way, by hash: the same text is sent once, not by every call that found it missing. */
  readonly #loading = new Map<string, Promise<void>>();
  #batches = 0;
  /** What a call takes of the most work that one may have: less on a server that is slow. */
  #share = 1;
  #isClosed = false;

  constructor({ commands, keys, now, giveUpMs }: LinkOptions) {
    this.commands = commands;
    this.keys = keys;
    this.#now = now;
    this.#giveUpMs = giveUpMs;
  }

  /** The id of a batch that no other batch has. */
  batch(): Buffer {
    const id = Buffer.alloc(14);
    this.#process.copy(id);
    id.writeUIntBE(++this.#batches, 8, 6);
    return id;
  }

  /** The work of a call, of `most` on a server that is fast. */
  sized(most: number): number {
    return Math.floor(most * this.#share);
  }

  /** A script has held the server so long. */
  timed(micros: number): void {
    const share = this.#share * (micros > CALL_MICROS ? 0.9 : 1.02);
    this.#share = Math.min(Math.max(share, SHARE_MIN), 1);
  }

  /** Runs a script on a partition; its first argument, the time, is added here. */
  async run(
    name: ScriptName,
    partition: number,
    args: readonly Argument[],
  ): Promise<readonly unknown[]> {
    const keys = (this.keys[partition] as readonly string[]).slice(0, scriptOf(name).keys);
    return (await this.#insist(
      name,
      [String(keys.length), ...keys, this.#now(), ...args],
      keys[0] as string,
    )) as unknown[];
  }

  /** The same for a script without a time of its own. */
  async runPlain(name: ScriptName, partition: number, args: readonly Argument[]): Promise<unknown> {
    const keys = this.keys[partition] as readonly string[];
    return await this.#insist(name, [String(keys.length), ...keys, ...args], keys[0] as string);
  }

  /** The answers of a script that works in slices: each holds where the next one begins, and "0" at the end. */
  async *slices(
    name: ScriptName,
    partition: number,
    argsAt: (cursor: string) => readonly Argument[],
  ): AsyncGenerator<readonly unknown[], void, undefined> {
    let cursor = "0";
    do {
      const answer = await this.run(name, partition, argsAt(cursor));
      cursor = String(answer[1]);
      yield answer;
    } while (cursor !== "0");
  }

  /** Sends a command about a partition's state, which may be sent twice. */
  async ask(partition: number, name: string, ...rest: readonly string[]): Promise<unknown> {
    const [key = ""] = this.keys[partition] as readonly string[];
    return await this.retry(() => this.commands.call(key, name, [key, ...rest]));
  }

  async publish(channel: string, message: string): Promise<void> {
    const [key = ""] = this.keys[0] as readonly string[];
    await this.retry(() => this.commands.call(key, "PUBLISH", [channel, message]));
  }

  async #insist(name: ScriptName, args: readonly Argument[], key: string): Promise<unknown> {
    const script = scriptOf(name);
    return await this.retry(() => this.#evaluate(key, script, args));
  }

  /** Makes a call that may be made twice until it is answered (I2). */
  async retry<T>(call: () => Promise<T>): Promise<T> {
    const givesUpAt = MACHINE.monotonic() + this.#giveUpMs;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      if (this.#isClosed) throw frontierClosed();
      try {
        return await withinMs(givesUpAt - MACHINE.monotonic(), call(), this.#waits);
      } catch (cause) {
        if (cause === TOO_LATE) throw serverGone(this.#giveUpMs, cause);
        const text = textOfCause(cause);
        if (/\bOOM\b/.test(text)) throw memoryFull(cause);
        if (text.includes("GONE no such frontier")) throw frontierGone();
        if (text.includes("WRONGTYPE")) {
          const message = "redis: a key of another type (expected: a name and a prefix of its own)";
          throw new FrontierError("FORMAT_UNSUPPORTED", message, { cause });
        }
        if (!isPassing(cause)) throw cause;
        if (MACHINE.monotonic() > givesUpAt) throw serverGone(this.#giveUpMs, cause);
      }
      const never = new Promise<void>(() => undefined);
      await withinMs(waitMs * (0.5 + chance() / 2), never, this.#waits).catch((cause) => {
        if (cause !== TOO_LATE) throw cause;
      });
    }
  }

  /** Ends all that waits for an answer (I4), then the client by `end`, which has `giveUpMs` for it. */
  async close(end: () => Promise<unknown>): Promise<void> {
    this.#isClosed = true;
    for (const wait of this.#waits) wait(frontierClosed());
    await withinMs(this.#giveUpMs, end()).catch((cause) => {
      throw cause === TOO_LATE ? serverGone(this.#giveUpMs, cause) : cause;
    });
  }

  async #evaluate(
    key: string,
    { sha, text }: { sha: string; text: string },
    args: readonly Argument[],
  ): Promise<unknown> {
    for (let loading: Promise<void> | undefined; ; await loading) {
      try {
        return await this.commands.call(key, "EVALSHA", [sha, ...args]);
      } catch (cause) {
        if (!(cause instanceof Error) || !cause.message.includes("NOSCRIPT")) throw cause;
      }
      loading = this.#loading.get(sha);
      if (loading === undefined) break;
    }
    const loaded = this.commands.call(key, "EVAL", [text, ...args]);
    const settled = loaded.then(
      () => undefined,
      () => undefined,
    );
    this.#loading.set(sha, settled);
    try {
      return await loaded;
    } finally {
      if (this.#loading.get(sha) === settled) this.#loading.delete(sha);
    }
  }
}

/** Whether an error passes by itself. */
export function isPassing(cause: unknown): boolean {
  return PASSING.test(textOfCause(cause));
}

function textOfCause(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return `${cause.name} ${cause.message} ${(cause as NodeJS.ErrnoException).code ?? ""}`;
}

function memoryFull(cause: unknown): FrontierError {
  const message = "redis: maxmemory reached (expected: room for what is written)";
  return new FrontierError("MEMORY_FULL", message, { cause });
}

function frontierGone(): FrontierError {
  return new FrontierError("FRONTIER_CLOSED", "frontier: dropped (expected: one that is there)");
}

export function serverGone(waitedMs: number, cause: unknown): FrontierError {
  const message = `redis: no answer within ${waitedMs} ms (expected: a server that is reachable)`;
  return new FrontierError("SERVER_GONE", message, { cause });
}
