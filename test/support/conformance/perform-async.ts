/**
 * One command of a random program (test/support/programs.ts) done through the surface of `AsyncFrontier`. The answer comes back as plain data,
 * so that two answers can be compared as text. Times of the clock are left out: implementations on a real clock cannot agree on them.
 */
import type { AsyncFrontier, AsyncLease } from "../../../src/engine/types/async-frontier.ts";
import type {
  PushResult,
  RecordView,
  Rule,
  Verdict,
} from "../../../src/engine/types/frontier-types.ts";
import { buildRules } from "../option-sets.ts";
import type { Command } from "../programs.ts";
import { listOf } from "./suite.ts";

export interface AsyncSide {
  readonly frontier: AsyncFrontier;
  now(): number;
  pass(ms: number): Promise<void>;
  /** Whether a change of rules reaches records only after the call. */
  readonly movesLater: boolean;
  /** Every lease so far, in the order of hand-outs. */
  readonly leases: AsyncLease[];
}

type On<K extends Command["do"]> = Extract<Command, { do: K }>;

/** Does it on one side; `picked` are the leases that it is about. */
export async function performAsync(
  side: AsyncSide,
  command: Command,
  picked: readonly number[],
): Promise<unknown> {
  const { frontier } = side;
  switch (command.do) {
    case "push":
      return verdict(await frontier.push({ ...command.request, ...dueOf(side, command.dueInMs) }));
    case "pushMany":
      return pushed(await frontier.pushMany(command.urls, { priority: command.priority }));
    case "put": {
      const { dueInMs, data } = command;
      return frontier.put(command.request, {
        ...(dueInMs === undefined ? {} : { dueAt: side.now() + dueInMs }),
        ...(data === undefined ? {} : { data }),
      });
    }
    case "poll":
    case "pollMany": {
      const leases = await frontier.pollMany(command.do === "poll" ? 1 : command.max);
      side.leases.push(...leases);
      return leases.map(leased);
    }
    case "peek": {
      const views = await frontier.peek(command.max);
      return views.map(({ url, priority, depth }) => ({ url, priority, depth }));
    }
    case "record":
      return recorded(await frontier.record(command.url));
    case "explain":
      return (await frontier.explain(command.url)).state ?? "none";
    case "records": {
      const views = await listOf(frontier.records({ state: command.state }));
      return views.map((view) => JSON.stringify([view.url, recorded(view)])).sort();
    }
    case "advance":
      return side.pass(command.ms);
    default:
      return "lease" in command || "leases" in command
        ? onLease(side, command as On<"done">, picked)
        : steer(side, command);
  }
}

function dueOf(side: AsyncSide, dueInMs: number | undefined): { notBefore?: number } {
  return dueInMs === undefined ? {} : { notBefore: side.now() + dueInMs };
}

async function onLease(
  side: AsyncSide,
  command: Extract<Command, { lease: number } | { leases: number[] }>,
  picked: readonly number[],
): Promise<unknown> {
  const leases = picked.flatMap((index) => side.leases[index] ?? []);
  if (command.do === "doneMany") return side.frontier.done(new Set(leases));
  const [lease] = leases;
  if (lease === undefined) return "no lease";
  switch (command.do) {
    case "done": {
      const result = await lease.done({ found: command.found, outcome: command.outcome });
      return result.late ? "late" : pushed(result);
    }
    case "retry":
      return lease.retry(command.options);
    case "fail":
      return lease.fail("broken", command.outcome);
    case "release":
      return lease.release();
    case "redirect":
      return verdict(await lease.redirect(command.url, command.change));
    case "extend":
      return lease.extend(command.ms);
  }
}

async function steer(side: AsyncSide, command: Command): Promise<unknown> {
  const { frontier } = side;
  switch (command.do) {
    case "hostDelay":
      return frontier.host(command.host).set({ delayMs: command.value });
    case "hostLimit":
      return frontier.host(command.host).set({ limit: command.value });
    case "hostBlock":
      return frontier.host(command.host).blockUntil(side.now() + command.value);
    case "hold":
      return frontier.host(command.host).hold();
    case "unhold":
      return frontier.host(command.host).unhold();
    case "update": {
      const { url, priority, dueInMs } = command;
      const change = { ...(priority === undefined ? {} : { priority }), ...dueOf(side, dueInMs) };
      return frontier.update(url, change);
    }
    case "requeue":
      return frontier.requeue({
        state: "failed",
        ...(command.host === undefined ? {} : { host: command.host }),
      });
    case "remove": {
      const { host, pattern = "" } = command;
      return frontier.remove(host === undefined ? { pattern } : { host });
    }
    case "forget":
      return frontier.forget(command.epoch === undefined ? {} : { epoch: command.epoch });
    case "setRules":
      return changeRules(side, buildRules(command.rules) as never);
    case "clear":
      return frontier.clear();
    case "pause":
      return (await frontier.status()) === "running" ? frontier.pause() : "skipped";
    case "resume":
      return frontier.resume();
    default:
      return "left out";
  }
}

/** Resolves when the rules have reached every record; how many of them no rule takes any more. */
async function changeRules({ frontier, movesLater }: AsyncSide, rules: Rule[]): Promise<number> {
  const { failed } = await frontier.report();
  const applied = new Promise((resolve) => {
    if (movesLater) frontier.on("rulesApplied", resolve, { once: true });
    else resolve(undefined);
  });
  await frontier.setRules(rules);
  await applied;
  const lost = (await frontier.report()).failed - failed;
  // The order in which several of them failed is unspecified, but a requeue would show it.
  if (lost > 1) await frontier.forget();
  return lost;
}

function leased({ url, method, priority, depth, attempt, deliveries, host, data }: AsyncLease) {
  return { url, method, priority, depth, attempt, deliveries, host, data: data ?? "none" };
}

function pushed(result: PushResult): unknown {
  const { size, accepted, deferred, duplicate, rejected, full } = result;
  const verdicts = Array.from({ length: size }, (_, index) => verdict(result.verdict(index)));
  return { size, accepted, deferred, duplicate, rejected, full, verdicts };
}

function verdict({ status, reason, admitted }: Verdict): unknown {
  return { status, ...(reason === undefined ? {} : { reason }), admitted };
}

/** What each state keeps, as test/support/perform.ts compares it. */
function recorded(view: RecordView | undefined): unknown {
  if (view === undefined) return "unknown";
  const { state, attempts, depth, deliveries } = view;
  if (state === "done" || state === "removed") return { state, attempts, depth };
  if (state === "pending" || state === "waiting") return { state, depth, deliveries };
  return { state, attempts, depth, deliveries };
}
