/**
 * Scarcity: every allocation of every call of a program fails in turn, on a frontier beside the naive model, which has no memory limit.
 *
 *   call, its 1st allocation refused ─▶ 2nd … ─▶ n-th ─▶ it asks for no more: the call is made
 *     ├─ threw MEMORY_FULL            everything is as before it; the same call again
 *     ├─ some rows `full`             the model gets the others; those rows again
 *     └─ fewer leases, fewer records  the rest without faults; together they equal the model's
 *
 * An allocation is an object of the arena, a page or a run of pages, or the promise of a step's room; a promised allocation is not refused.
 * After a refusal either all later ones in the call are refused too, or none is.
 */
import { listRecords } from "../../src/frontier/records/record-walk.ts";
import { LANE_BYTES } from "../../src/layout/ordering/lane.ts";
import { HOST_SIZE_BYTES, QUEUE_SIZE_BYTES } from "../../src/layout/records/host.ts";
import { loneName } from "../../src/structures/hosts/lone-host.ts";
import { isLone } from "../../src/structures/records/record.ts";
import { isMemoryFull } from "../../src/base/errors.ts";
import { createVirtualClock } from "../../src/base/clock.ts";
import { coreOf, verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { isSweeping, sweepSlice } from "../../src/frontier/rules/rule-sweep.ts";
import type { Frontier } from "../../src/index.ts";
import { arenaUsedBytes } from "../../src/memory/arena.ts";
import { checkConservation } from "./duel.ts";
import type { SyncFrontier, SyncPushResult, SyncReport } from "./frontier-surface.ts";
import { buildRules } from "./option-sets.ts";
import { performCommand, type Side, totalOf } from "./perform.ts";
import type { Command } from "./programs.ts";

/** More allocations than any call of these programs makes. */
const FAULTS_MAX = 2_000;
const START_MS = 1_700_000_000_000;

export interface Scarcity {
  readonly commands: readonly Command[];
  readonly open: (clock: ReturnType<typeof createVirtualClock>) => Promise<SyncFrontier>;
  readonly model: (clock: ReturnType<typeof createVirtualClock>) => SyncFrontier;
  /** Whether all that follow the refused one are refused too. */
  readonly isLasting: boolean;
}

/** The result of a program: refusals, and calls that threw because of them. */
export interface Suffered {
  refused: number;
  thrown: number;
}

interface Play {
  readonly model: Side;
  readonly side: Side;
  readonly isLasting: boolean;
  readonly suffered: Suffered;
  readonly log: string[];
}

/** Runs the program; throws at the first thing that is lost, doubled, stuck or miscounted. */
export async function runScarce({ commands, open, model, isLasting }: Scarcity): Promise<Suffered> {
  const clocks = [createVirtualClock(START_MS), createVirtualClock(START_MS)] as const;
  const play: Play = {
    model: { frontier: model(clocks[0]), clock: clocks[0], leases: [] },
    side: { frontier: await open(clocks[1]), clock: clocks[1], leases: [] },
    isLasting,
    suffered: { refused: 0, thrown: 0 },
    log: [],
  };
  const ended = new Set<number>();
  try {
    for (const command of commands) {
      const picked = pick(command, play.model.leases.length, ended);
      play.log.push(`${JSON.stringify(command)} on leases ${picked}`);
      look(play);
      perform(play, command, picked);
      compare(play, "report", reported);
      compare(play, "order", ({ frontier }) =>
        frontier.peek(4).map(({ url, priority, depth }) => [url, priority, depth]),
      );
      if (endsLeases(command)) for (const index of picked) ended.add(index);
    }
  } catch (error) {
    const calls = play.log.map((line, index) => `  ${index + 1}. ${line}`).join("\n");
    throw new Error(`${(error as Error).stack}\n${calls}`);
  } finally {
    await play.side.frontier.close();
    await play.model.frontier.close();
  }
  return play.suffered;
}

/** The clock's work comes first, by itself: later calls find none left. */
function look(play: Play): void {
  for (let at = 1; at < FAULTS_MAX; at++) {
    const { refused } = underFault(play, at, () => play.side.frontier.report());
    if (refused === 0) break;
  }
  play.model.frontier.report();
  compare(play, "report", reported);
}

function perform(play: Play, command: Command, picked: readonly number[]): void {
  const { model, side } = play;
  const before = JSON.stringify(reported(side));
  const objects = objectBytes(side);
  let left = command;
  let isForgotten = false;
  for (let at = 1; at < FAULTS_MAX; at++) {
    const told = side.leases.length;
    const { answer, error, refused } = underFault(play, at, () => {
      // Without the other effects of the programs: those come when the swap is over.
      if (left.do === "setRules") return side.frontier.setRules(buildRules(left.rules));
      return performCommand(side, left, picked);
    });
    if (error !== undefined) {
      play.suffered.thrown++;
      // An epoch is forgotten member by member.
      isForgotten ||= command.do === "forget";
      if (isForgotten) continue;
      same("after a call that threw", before, JSON.stringify(reported(side)));
      // The places of rules that were not accepted are kept for the next ones.
      if (command.do === "setRules") continue;
      same("bytes after a call that threw", String(objects), String(objectBytes(side)));
      continue;
    }
    const full = refusedRows(answer);
    if (refused === 0 || !isPush(left)) {
      finish(play, left, picked, { answer, refused, told, isForgotten });
      return;
    }
    // Rows that found room go to the model too, in the same order; the others come again.
    if (full.length === 0) {
      finish(play, left, picked, { answer, refused, told, isForgotten });
      return;
    }
    if (left.do === "put") same("after a refusal", before, JSON.stringify(reported(side)));
    if (left.do === "push" || left.do === "put" || left.do === "redirect") {
      same("bytes after a refusal", String(objects), String(objectBytes(side)));
      continue;
    }
    if (left.do === "done") {
      const found = left.found.filter((_, row) => !full.includes(row));
      const kept = withoutRows(answer as Pushed, full);
      same("answer", JSON.stringify(performCommand(model, { ...left, found }, picked)), kept);
      return;
    }
    if (left.do !== "pushMany" && left.do !== "pushUrls") throw new Error(`${left.do}: rows`);
    const { urls } = left;
    const admitted = urls.filter((_, row) => !full.includes(row));
    const asked = { ...left, urls: admitted };
    const kept = withoutRows(answer as Pushed, full);
    same("answer", JSON.stringify(performCommand(model, asked, picked)), kept);
    left = { ...left, urls: urls.filter((_, row) => full.includes(row)) };
  }
  throw new Error("stuck: the same call never succeeds");
}

interface Done {
  readonly answer: unknown;
  readonly refused: number;
  /** Leases that were reported before. */
  readonly told: number;
  readonly isForgotten: boolean;
}

/** The call was made, perhaps not to its end. */
function finish(play: Play, command: Command, picked: readonly number[], done: Done): void {
  const { model, side } = play;
  const { refused, told, isForgotten } = done;
  let { answer } = done;
  if (refused > 0) {
    answer = goOn(side, { command, picked, answer, told });
    heal(side);
  }
  if (command.do === "setRules") {
    const { failed } = model.frontier.report();
    model.frontier.setRules(buildRules(command.rules));
    // The order in which several of them failed is unspecified, but a requeue would show it.
    if (model.frontier.report().failed - failed < 2) return;
    compare(play, "report", reported);
    for (const each of [model, side]) each.frontier.forget();
    return;
  }
  const wanted = performCommand(model, command, picked);
  if (isForgotten) return;
  // Records that no rule takes failed again at once, and were requested again.
  if (command.do === "requeue" && refused > 0) return;
  // Earlier is allowed, later is not.
  if (command.do === "nextDueAt" && Number(answer) < Number(wanted)) return;
  if (command.do === "nextDueAt" && wanted === "none") return;
  same("answer", JSON.stringify(wanted), JSON.stringify(answer));
}

/** The rest of a call that was cut short, without faults; returns the answer of both. */
function goOn(
  side: Side,
  {
    command,
    picked,
    answer,
    told,
  }: { command: Command; picked: readonly number[]; answer: unknown; told: number },
): unknown {
  switch (command.do) {
    case "poll":
      return side.leases.length > told ? answer : performCommand(side, command, picked);
    case "pollMany": {
      const most = command.max - (side.leases.length - told);
      if (most === 0) return answer;
      const rest = performCommand(side, { ...command, max: most }, picked);
      return [...(answer as unknown[]), ...(rest as unknown[])];
    }
    case "requeue":
    case "remove":
      return (answer as number) + (performCommand(side, command, picked) as number);
    case "peek":
    case "records":
    case "record":
    case "explain":
    case "nextDueAt":
      return performCommand(side, command, picked);
    default:
      return answer;
  }
}

/** Everything that waits for room finds it. */
function heal({ frontier, clock }: Side): void {
  const core = coreOf(frontier as unknown as Frontier);
  while (!sweepSlice(core, clock.now(), () => false));
  core.log?.end();
  frontier.report();
}

interface Outcome {
  readonly answer: unknown;
  readonly error: unknown;
  readonly refused: number;
}

/** The call with its allocation number `at` refused; the frontier is whole afterwards. */
function underFault(play: Play, at: number, call: () => unknown): Outcome {
  const { side, isLasting, suffered } = play;
  const frontier = side.frontier as unknown as Frontier;
  const { region } = coreOf(frontier).store;
  let asked = 0;
  let refused = 0;
  region.promised = 0;
  region.refuses = () => {
    asked++;
    if (isLasting ? asked < at : asked !== at) return false;
    refused++;
    return true;
  };
  let answer: unknown;
  let error: unknown;
  try {
    answer = call();
  } catch (cause) {
    if (!isMemoryFull(cause)) throw cause;
    error = cause;
  } finally {
    region.refuses = undefined;
    region.promised = 0;
  }
  if (region.isHeld) throw new Error("a promise outlives its call");
  suffered.refused += refused;
  try {
    // Hosts of rules that have changed are not settled before the sweep comes to them.
    if (!isSweeping(coreOf(frontier))) verifyFrontier(frontier);
    checkConservation(side.frontier.report());
  } catch (cause) {
    throw new Error(`allocation ${at} of the last call: ${(cause as Error).stack}`);
  }
  return { answer, error, refused };
}

type Pushed = Omit<SyncPushResult, "verdict"> & {
  verdicts: Array<{ status: string; reason?: string }>;
};

function isPush(command: Command): boolean {
  return ["push", "pushMany", "pushUrls", "put", "done", "redirect"].includes(command.do);
}

/** Rows that found no memory. */
function refusedRows(answer: unknown): number[] {
  if (typeof answer !== "object" || answer === null) return [];
  const { verdicts = [answer] } = answer as { verdicts?: unknown[] };
  return verdicts.flatMap((verdict, row) => (isRefused(verdict) ? [row] : []));
}

function isRefused(verdict: unknown): boolean {
  const { status, reason } = verdict as { status?: string; reason?: string };
  return status === "full" && reason === "memory";
}

/** The answer as it would be without these rows. */
function withoutRows(answer: Pushed, rows: readonly number[]): string {
  const verdicts = answer.verdicts.filter((_, row) => !rows.includes(row));
  const { size, accepted, deferred, duplicate, rejected, full } = answer;
  const rest = full - rows.length;
  return JSON.stringify({
    ...{ size: size - rows.length, accepted, deferred, duplicate, rejected, full: rest },
    verdicts,
  });
}

function pick(command: Command, count: number, ended: ReadonlySet<number>): number[] {
  const asked = "lease" in command ? [command.lease] : "leases" in command ? command.leases : [];
  const open = Array.from({ length: count }, (_, index) => index).filter((at) => !ended.has(at));
  return asked.flatMap((number) => {
    if (number >= 56) return count > 0 ? [number % count] : [];
    return open[number % Math.max(open.length, 1)] ?? [];
  });
}

function endsLeases(command: Command): boolean {
  return ["done", "doneMany", "retry", "fail", "release"].includes(command.do);
}

/** Bytes of records, hosts and everything attached to them, as they are once all lone hosts are made: a call may make one before it is refused. */
function objectBytes({ frontier }: Side): number {
  const core = coreOf(frontier as unknown as Frontier);
  const { store } = core;
  let bytes = arenaUsedBytes(store.arena);
  const { handles, count } = listRecords(core, new Set(["pending"]));
  for (const record of handles.subarray(0, count)) {
    if (!isLone(store, record)) continue;
    const name = loneName(store, record).bytes;
    bytes += HOST_SIZE_BYTES + QUEUE_SIZE_BYTES + LANE_BYTES + ((name + 7) & ~7);
  }
  return bytes;
}

/** Everything that is counted except requests, of which some came several times. */
function reported({ frontier }: Side): unknown {
  const { rules, ...report }: SyncReport = frontier.report();
  const named = ["accepted", "deferred", "duplicate", "retried", "expired", "pending"] as const;
  const states = ["waiting", "leased", "done", "failed", "forgotten", "removed", "seen"] as const;
  const counts = [...named, ...states].map((name) => [name, report[name]]);
  const byRule = Object.entries(rules)
    .map(([id, { pending, leased, failed }]) => ({ id, counts: [pending, leased, failed] }))
    .filter((rule) => rule.counts.some((count) => count > 0))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return { counts, rejected: totalOf(report.rejected), byRule };
}

function compare(play: Play, what: string, view: (side: Side) => unknown): void {
  same(what, JSON.stringify(view(play.model)), JSON.stringify(view(play.side)));
}

function same(what: string, wanted: string, given: string): void {
  if (wanted !== given) throw new Error(`${what} differs\n  wanted ${wanted}\n  given  ${given}`);
}
