/**
 * A turn at a host for a request without a lease: robots.txt on another host.
 *
 *   now ── due, and fewer visits in progress than allowed? ─ no ─▶ blocked, so that no lease goes first ─▶ checked again
 *                              └─ yes ─▶ blocked during the request ─▶ blocked for the delay after it
 *
 *   I1  When a turn begins, the host's delay has passed and fewer visits are in progress than it allows. The host's next lease waits
 *       until the turn has ended, and for the delay after that.
 *   I2  A turn that does not come within TURN_MS_MAX is refused, and no request is made.
 *   I3  A pause that the host demands from a visit meanwhile is obeyed by the turns too: their own block is shorter than any such pause,
 *       so that the longer time is visible.
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
  /** Of hosts with turns, by key. */
  readonly blocks: Map<string, TurnBlock>;
}

/** Longest wait for a turn. */
export const TURN_MS_MAX = 60_000;
/**
 * How far ahead a host is blocked for a turn: less than the shortest pause that a host can ask for (I3), and so short that a kill may
 * leave it.
 */
const BLOCK_MS = 900;
/** Interval between two checks of the visits in progress. */
const POLL_MS = 100;

/**
 * Runs `work`, which requests `url`, when it is its host's turn. Throws when the wait would take too long. The caller holds the lease of
 * `leaseUrl`: at that URL's own host only the delay is waited for, and what the host has asked for.
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
  const isOurs = key === hostKeyOf(leaseUrl);
  const dueMs = isOurs ? clock.now() + delayMs : host.readyAt;
  const block = takeBlock(turns, key, host);
  let isOver = false;
  try {
    if (!(await hasCome(turns, { host, block, delayMs, dueMs, isOurs }))) {
      throw new DownloadError("timeout", `${url}: the host was busy for too long`);
    }
    isOver = true;
    return await work();
  } finally {
    leaveBlock(turns, { key, host, block }, isOver ? clock.now() + delayMs : 0);
  }
}

/** The block of a host for its turns, of which several may wait or be under way. */
export interface TurnBlock {
  turns: number;
  /** Until when the turns block it; the host shows something else once others block it for longer. */
  oursMs: number;
  /** Until when others do. */
  othersMs: number;
  cancel: () => void;
}

/** Keeps a host blocked until every turn has left the block. */
function takeBlock({ clock, signal, blocks }: Turns, key: string, host: HostView): TurnBlock {
  const known = blocks.get(key);
  if (known !== undefined) {
    known.turns++;
    return known;
  }
  const block: TurnBlock = { turns: 1, oursMs: 0, othersMs: 0, cancel: () => {} };
  blocks.set(key, block);
  const extend = (): void => {
    if (signal.aborted) return;
    look(block, host);
    const untilMs = clock.now() + BLOCK_MS;
    if (host.blockedUntil < untilMs) {
      host.blockUntil(untilMs);
      block.oursMs = untilMs;
    }
    block.cancel = clock.schedule(clock.now() + BLOCK_MS / 2, extend);
  };
  extend();
  return block;
}

/** Reads until when others have blocked the host meanwhile. */
function look(block: TurnBlock, { blockedUntil }: HostView): void {
  if (blockedUntil !== block.oursMs) block.othersMs = Math.max(block.othersMs, blockedUntil);
}

interface Leaving {
  readonly key: string;
  readonly host: HostView;
  readonly block: TurnBlock;
}

/** A turn is over: the last one takes the block back to `untilMs`, and never below what others have asked for (I3). */
function leaveBlock({ blocks }: Turns, { key, host, block }: Leaving, untilMs: number): void {
  look(block, host);
  block.othersMs = Math.max(block.othersMs, untilMs);
  block.turns--;
  if (block.turns > 0) return;
  block.cancel();
  blocks.delete(key);
  if (host.blockedUntil === block.oursMs || host.blockedUntil < block.othersMs) {
    host.blockUntil(block.othersMs);
  }
}

interface Coming {
  readonly host: HostView;
  readonly block: TurnBlock;
  readonly delayMs: number;
  /** Before this the turn does not come. */
  readonly dueMs: number;
  readonly isOurs: boolean;
}

async function hasCome(turns: Turns, coming: Coming): Promise<boolean> {
  const { clock, signal } = turns;
  const { host, block, delayMs, isOurs } = coming;
  const lastMs = clock.now() + TURN_MS_MAX;
  let { dueMs } = coming;
  while (!signal.aborted) {
    look(block, host);
    const isFull = !isOurs && host.leased >= host.limit;
    const untilMs = Math.max(dueMs, block.othersMs, isFull ? clock.now() + POLL_MS : 0);
    if (untilMs <= clock.now()) return true;
    if (host.held || untilMs > lastMs) return false;
    await wait(turns, untilMs);
    // The end of a visit begins the delay.
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
