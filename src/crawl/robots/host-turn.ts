/**
 * A turn at a host for a request that no lease stands for: robots.txt that lies elsewhere.
 *
 *   now ── due, and fewer visits under way than allowed? ─ no ─▶ blocked, so that no lease goes before us ─▶ looked at again
 *                              └─ yes ─▶ blocked while we ask ─▶ blocked for the delay after it
 *
 *   I1  When it begins the host's delay has passed and fewer visits are under way than it allows; its next lease waits until it has
 *       ended, and for the delay after that.
 *   I2  One that does not come within TURN_MS_MAX is refused, and nothing is asked.
 */
import type { Clock } from "../../base/clock.ts";
import type { Frontier, HostView } from "../../index.ts";
import { DownloadError } from "../http/download-error.ts";

interface Turns {
  readonly frontier: Pick<Frontier, "host">;
  readonly clock: Clock;
  /** Of every host, at the least. */
  readonly delayMs: number;
  /** The politeness unit of a URL. */
  readonly hostKeyOf: (url: string) => string;
  /** Ends every wait. */
  readonly signal: AbortSignal;
}

/** The longest that a turn is waited for. */
export const TURN_MS_MAX = 60_000;
/** So far ahead a host is blocked while it is asked: what a kill leaves behind holds a resumed crawl up no longer. */
const BLOCK_MS = 5_000;
/** Visits under way are looked at so often. */
const POLL_MS = 100;

/**
 * Does `work`, which asks for `url`, when it is its host's turn; throws where that would take too long. `leaseUrl` is what the caller
 * holds a lease of: at its own host only the delay is waited for.
 */
export async function inTurn<T>(
  turns: Turns,
  { url, leaseUrl }: { readonly url: string; readonly leaseUrl: string },
  work: () => Promise<T>,
): Promise<T> {
  const { clock, hostKeyOf } = turns;
  const key = hostKeyOf(url);
  const host = turns.frontier.host(key);
  const delayMs = Math.max(turns.delayMs, host.delayMs);
  if (!(await hasCome(turns, { host, delayMs, isOurs: key === hostKeyOf(leaseUrl) }))) {
    throw new DownloadError("timeout", `${url}: the host was busy for too long`);
  }
  const release = keepBlocked(turns, host);
  try {
    return await work();
  } finally {
    release();
    host.blockUntil(clock.now() + delayMs);
  }
}

/** Blocks a host until the answer is called, never further ahead than BLOCK_MS. */
function keepBlocked({ clock, signal }: Turns, host: HostView): () => void {
  let cancel = (): void => {};
  const block = (): void => {
    if (signal.aborted) return;
    host.blockUntil(clock.now() + BLOCK_MS);
    cancel = clock.schedule(clock.now() + BLOCK_MS / 2, block);
  };
  block();
  return () => cancel();
}

interface Wanted {
  readonly host: HostView;
  readonly delayMs: number;
  readonly isOurs: boolean;
}

async function hasCome(turns: Turns, { host, delayMs, isOurs }: Wanted): Promise<boolean> {
  const { clock, signal } = turns;
  const lastMs = clock.now() + TURN_MS_MAX;
  let dueMs = isOurs ? clock.now() + delayMs : host.readyAt;
  while (!signal.aborted) {
    const isFull = !isOurs && host.leased >= host.limit;
    const untilMs = Math.max(dueMs, isFull ? clock.now() + POLL_MS : 0);
    if (untilMs <= clock.now()) return true;
    if (host.held || untilMs > lastMs) return false;
    // Past our turn, so that the frontier gives no lease at the very moment of it.
    host.blockUntil(untilMs + delayMs + POLL_MS);
    await wait(turns, untilMs);
    // A visit that has ended begins the delay; while none has, only our own block stands.
    dueMs = isFull && host.leased < host.limit ? clock.now() + delayMs : 0;
  }
  return false;
}

function wait({ clock, signal }: Turns, untilMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(untilMs, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    const stop = (): void => {
      cancel();
      resolve();
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}
