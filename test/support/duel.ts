/**
 * A duel: one program run on two frontiers, a trusted and a suspect one, call by call. Every
 * answer, the whole report and the status must be equal after every call, I1 must hold, and leases
 * are matched by the order in which they were handed out. Any difference throws with the calls
 * that led to it.
 */
import { createVirtualClock } from "../../src/base/clock.ts";
import { performCommand, type Side, totalOf } from "./perform.ts";
import type { SyncFrontier, SyncOptions, SyncReport } from "./frontier-surface.ts";
import { buildOptions, type OptionSpec } from "./option-sets.ts";
import type { Command } from "./programs.ts";

export type Open = (options: SyncOptions) => SyncFrontier | Promise<SyncFrontier>;

export interface Duel {
  spec: OptionSpec;
  commands: readonly Command[];
  trusted: Open;
  suspect: Open;
  /** The suspect's own complete check. */
  verify?: ((suspect: SyncFrontier) => void) | undefined;
  /** Commands between two slow checks; default 1. */
  checkEvery?: number;
}

/** A time of the present, so that a number kept in too few bits shows. */
const START_MS = 1_700_000_000_000;

/** Lease numbers from here on mean any lease that ever was; lower ones mean one that is still open. */
const ANY_LEASE = 56;

/** Runs the program; throws at the first difference. */
export async function runDuel(duel: Duel): Promise<void> {
  const trusted = await openSide(duel, duel.trusted);
  const suspect = await openSide(duel, duel.suspect);
  const open: number[] = [];
  const log: string[] = [];
  try {
    for (const command of duel.commands) {
      const picked = pickLeases(command, open, trusted.leases.length);
      log.push(`${JSON.stringify(command)}${picked.length > 0 ? ` on leases ${picked}` : ""}`);
      const leasesBefore = trusted.leases.length;
      const said = performCommand(trusted, command, picked);
      const answer = performCommand(suspect, command, picked);
      if (command.do === "nextDueAt") checkWakeUp(said, answer, trusted);
      else compare("answer", said, answer);
      // No check after the clock alone: the next call must itself find what the clock brought about.
      if (command.do === "advance") continue;
      compare("report", comparable(trusted), comparable(suspect));
      checkConservation(suspect.frontier.report());
      if (log.length % (duel.checkEvery ?? 1) === 0) {
        compare("order", nextOnes(trusted), nextOnes(suspect));
        duel.verify?.(suspect.frontier);
      }
      for (let i = leasesBefore; i < trusted.leases.length; i++) open.push(i);
      if (endsLeases(command)) for (const i of picked) drop(open, i);
    }
  } catch (error) {
    const calls = log.map((line, index) => `  ${index + 1}. ${line}`).join("\n");
    throw new Error(`${String(error)}\noptions: ${JSON.stringify(duel.spec)}\n${calls}`);
  } finally {
    await trusted.frontier.close();
    await suspect.frontier.close();
  }
}

async function openSide(duel: Duel, open: Open): Promise<Side> {
  const clock = createVirtualClock(START_MS);
  return { frontier: await open(buildOptions(duel.spec, clock)), clock, leases: [] };
}

/** The leases that a command names by number, resolved against the current ones. */
function pickLeases(command: Command, open: number[], count: number): number[] {
  const asked = "lease" in command ? [command.lease] : "leases" in command ? command.leases : [];
  return asked.flatMap((number) => {
    if (number >= ANY_LEASE) return count > 0 ? [number % count] : [];
    return open[number % Math.max(open.length, 1)] ?? [];
  });
}

function endsLeases(command: Command): boolean {
  return ["done", "doneMany", "retry", "fail", "release"].includes(command.do);
}

function drop(open: number[], lease: number): void {
  const at = open.indexOf(lease);
  if (at >= 0) open.splice(at, 1);
}

function comparable(side: Side): unknown {
  const report = side.frontier.report();
  return {
    status: side.frontier.status,
    reported: report.status,
    pushed: report.pushed,
    accepted: report.accepted,
    deferred: report.deferred,
    duplicate: report.duplicate,
    rejected: totalOf(report.rejected),
    full: report.full,
    retried: report.retried,
    expired: report.expired,
    lateResults: report.lateResults,
    pending: report.pending,
    waiting: report.waiting,
    leased: report.leased,
    done: report.done,
    failed: report.failed,
    forgotten: report.forgotten,
    removed: report.removed,
    seen: report.seen,
    rules: rulesOf(report),
  };
}

/** The report of every rule, including those that have gone. */
function rulesOf({ rules }: SyncReport): unknown {
  return Object.entries(rules)
    .map(([id, { pending, leased, failed }]) => ({ id, counts: [pending, leased, failed] }))
    .filter(({ counts }) => counts.some((count) => count > 0))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * nextDueAt may be earlier than the moment at which a poll succeeds, but no later (a lost wake-up) and, while a poll returns nothing, not
 * the present (a busy loop).
 */
function checkWakeUp(exact: unknown, given: unknown, { frontier, clock }: Side): void {
  const isNow = frontier.peek(1).length > 0;
  const isEarly = typeof given === "number" && (isNow || given > clock.now());
  if (isEarly && (typeof exact !== "number" || given <= exact)) return;
  compare("wake-up", exact, given);
}

/** The records that would be handed out next, so that a wrong place shows before it is polled. */
function nextOnes({ frontier }: Side): unknown {
  return frontier.peek(4).map(({ url, priority, depth }) => ({ url, priority, depth }));
}

export function checkConservation(report: SyncReport): void {
  const { pending, waiting, leased, done, failed, forgotten, removed } = report;
  const held = pending + waiting + leased + done + failed + forgotten + removed;
  const admitted = report.accepted + report.deferred;
  if (admitted !== held) throw new Error(`I1: admitted ${admitted}, but there are ${held}`);
}

function compare(what: string, trusted: unknown, suspect: unknown): void {
  const wanted = JSON.stringify(trusted);
  const given = JSON.stringify(suspect);
  if (wanted !== given) throw new Error(`${what} differs\n  trusted ${wanted}\n  suspect ${given}`);
}
