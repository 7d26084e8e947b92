/**
 * A duel through the surface of `AsyncFrontier`: one random program on the naive model and on an implementation, call by call. Every answer, the
 * counts and the next URLs must be equal; any difference throws with the calls that led to it.
 */
import { createVirtualClock } from "../../../src/base/clock.ts";
import type { FrontierOptions, Report } from "../../../src/engine/types/frontier-types.ts";
import { checkConservation, type Open } from "../duel.ts";
import type { SyncReport } from "../frontier-surface.ts";
import { createModelFrontier } from "../model-frontier.ts";
import { buildOptions, type OptionSpec } from "../option-sets.ts";
import { totalOf } from "../perform.ts";
import type { Command } from "../programs.ts";
import { asyncOf } from "./async-of.ts";
import type { Rig } from "./implementations.ts";
import { type AsyncSide, performAsync } from "./perform-async.ts";

export interface AsyncDuel {
  readonly spec: OptionSpec;
  readonly commands: readonly Command[];
  /** Opens the implementation with these options, which hold no clock. */
  readonly open: (options: FrontierOptions) => Promise<Rig>;
  /** Whether a change of rules reaches records only after the call. */
  readonly movesLater: boolean;
  /** Commands between two comparisons of counts and order. */
  readonly checkEvery: number;
  /**
   * The model; another one proves that a difference is found.
   * @defaultValue the naive model
   */
  readonly trusted?: Open;
}

/** Lease numbers from here on mean any lease that ever was; lower ones mean one that is still open. */
const ANY_LEASE = 56;
const ENDS = new Set<string>(["done", "doneMany", "retry", "fail", "release"]);

/** Runs the program; throws at the first difference. */
export async function runAsyncDuel(duel: AsyncDuel): Promise<void> {
  const open: number[] = [];
  const log: string[] = [];
  let close = async (): Promise<void> => {};
  try {
    const { trusted, suspect } = await openSides(duel);
    close = async () => {
      await trusted.frontier.close();
      await suspect.frontier.close();
    };
    for (const command of duel.commands) {
      const picked = pickLeases(command, open, trusted.leases.length);
      log.push(`${JSON.stringify(command)}${picked.length > 0 ? ` on leases ${picked}` : ""}`);
      const before = trusted.leases.length;
      compare(
        "answer",
        await performAsync(trusted, command, picked),
        await performAsync(suspect, command, picked),
      );
      for (let at = before; at < trusted.leases.length; at++) open.push(at);
      if (ENDS.has(command.do)) for (const each of picked) drop(open, each);
      if (command.do !== "advance" && log.length % duel.checkEvery === 0) {
        compare("report", await countsOf(trusted), await countsOf(suspect));
        compare("order", await nextOf(trusted), await nextOf(suspect));
      }
    }
    compare("report", await countsOf(trusted), await countsOf(suspect));
  } catch (error) {
    const calls = log.map((line, index) => `  ${index + 1}. ${line}`).join("\n");
    throw new Error(`${String(error)}\noptions: ${JSON.stringify(duel.spec)}\n${calls}`);
  } finally {
    await close();
  }
}

async function openSides(duel: AsyncDuel): Promise<{ trusted: AsyncSide; suspect: AsyncSide }> {
  const { clock: _, ...options } = buildOptions(duel.spec, createVirtualClock());
  const rig = await duel.open(options as FrontierOptions);
  const clock = createVirtualClock(rig.now());
  const model = await (duel.trusted ?? createModelFrontier)(buildOptions(duel.spec, clock));
  const pass = async (ms: number): Promise<void> => clock.advance(ms);
  const now = (): number => clock.now();
  const trusted = { frontier: asyncOf(model), now, pass, movesLater: false, leases: [] };
  return { trusted, suspect: { ...rig, movesLater: duel.movesLater, leases: [] } };
}

/** The leases that a command names by number, resolved against the current ones. */
function pickLeases(command: Command, open: readonly number[], count: number): number[] {
  const asked = "lease" in command ? [command.lease] : "leases" in command ? command.leases : [];
  return asked.flatMap((number) => {
    if (number >= ANY_LEASE) return count > 0 ? [number % count] : [];
    return open[number % Math.max(open.length, 1)] ?? [];
  });
}

function drop(open: number[], lease: number): void {
  const at = open.indexOf(lease);
  if (at >= 0) open.splice(at, 1);
}

const COUNTERS = ["pushed", "accepted", "deferred", "duplicate", "full", "retried", "expired"];
const GAUGES = ["pending", "waiting", "leased", "done", "failed", "forgotten", "removed", "seen"];

async function countsOf({ frontier }: AsyncSide): Promise<unknown> {
  const report = await frontier.report();
  checkConservation(report as unknown as SyncReport);
  const names = [...COUNTERS, ...GAUGES, "lateResults"] as Array<keyof Report>;
  const rules = Object.entries(report.rules)
    .map(([id, { pending, leased, failed }]) => ({ id, counts: [pending, leased, failed] }))
    .filter(({ counts }) => counts.some((count) => count > 0))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const counts = Object.fromEntries(names.map((name) => [name, report[name]]));
  return { status: await frontier.status(), ...counts, rejected: totalOf(report.rejected), rules };
}

/** The URLs that would be handed out next, so that a wrong place shows before it is polled. */
async function nextOf({ frontier }: AsyncSide): Promise<unknown> {
  const views = await frontier.peek(4);
  return views.map(({ url, priority, depth }) => ({ url, priority, depth }));
}

function compare(what: string, trusted: unknown, suspect: unknown): void {
  const wanted = JSON.stringify(trusted);
  const given = JSON.stringify(suspect);
  if (wanted !== given) throw new Error(`${what} differs\n  trusted ${wanted}\n  suspect ${given}`);
}
