/**
 * A turn at a host for a request without a lease: robots.txt on another host.
 *
 *   now ── due, and fewer visits in progress than allowed? ─ no ─▶ blocked, so that no lease goes first ─▶ checked again
 *                              └─ yes ─▶ blocked during the request ─▶ blocked for the delay after it
 *
 *   I1  When a turn begins, the host's delay has passed and fewer visits are in progress than it allows. The host's next lease waits
 *       until the turn has ended, and for the delay after that.
 *   I2  A turn that does not come within TURN_MS_MAX is refused, and no request is made.
 */
import type { Clock } from "../../base/clock.ts";
import type { Frontier, HostView } from "../../index.ts";
import { DownloadError } from "../http/download-error.ts";

interface Turns {
  readonly frontier: Pick<Frontier, "host">;
  readonly clock: Clock;
  /** The least delay of every host. */
  readonly delayMs: number;
  /** The politeness unit of a URL. */
  readonly hostKeyOf: (url: string) => string;
  /** Ends every wait. */
  readonly signal: AbortSignal;
}

/** Longest wait for a turn. */
export const TURN_MS_MAX = 60_000;
/** How far ahead a host is blocked during a request: a block left by a kill delays a resumed crawl no longer. */
const BLOCK_MS = 5_000;
/** Interval between two checks of the visits in progress. */
const POLL_MS = 100;

/**
 * Runs `work`, which requests `url`, when it is its host's turn. Throws when the wait would take too long. The caller holds the lease of
 * `leaseUrl`: at that URL's own host only the delay is waited for.
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

/** Blocks a host until the returned function is called, never further ahead than BLOCK_MS. */
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
    // Beyond our turn, so that the frontier hands out no lease at that moment.
    host.blockUntil(untilMs + delayMs + POLL_MS);
    await wait(turns, untilMs);
    // The end of a visit begins the delay; until then only our own block is there.
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
