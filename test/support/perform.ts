/**
 * One command of a program done on one frontier; the answer comes back as plain data with its
 * fields in a fixed order, so that two answers can be compared as text.
 */
import type { createVirtualClock } from "../../src/base/clock.ts";
import type {
  SyncFrontier,
  SyncLease,
  SyncPushResult,
  SyncRecordView,
  SyncReport,
  SyncVerdict,
} from "./frontier-surface.ts";
import { buildRules } from "./option-sets.ts";
import type { Command } from "./programs.ts";

export interface Side {
  frontier: SyncFrontier;
  clock: ReturnType<typeof createVirtualClock>;
  /** Every lease so far, in the order of hand-outs. */
  leases: SyncLease[];
}

export function performCommand(side: Side, command: Command, picked: readonly number[]): unknown {
  const { frontier, clock } = side;
  switch (command.do) {
    case "push": {
      const { dueInMs } = command;
      const due = dueInMs === undefined ? {} : { notBefore: clock.now() + dueInMs };
      return verdict(frontier.push({ ...command.request, ...due }));
    }
    case "pushMany":
      return pushed(frontier.pushMany(command.urls, { priority: command.priority }));
    case "pushUrls":
      return pushed(frontier.pushMany(command.urls));
    case "put": {
      const { dueInMs, data } = command;
      return frontier.put(command.request, {
        ...(dueInMs === undefined ? {} : { dueAt: clock.now() + dueInMs }),
        ...(data === undefined ? {} : { data }),
      });
    }
    case "poll":
      return [frontier.poll()].flatMap((lease) => lease ?? []).map((lease) => took(side, lease));
    case "pollMany":
      return frontier.pollMany(command.max).map((lease) => took(side, lease));
    case "peek":
      return frontier
        .peek(command.max)
        .map(({ url, priority, depth }) => ({ url, priority, depth }));
    case "record":
      return recorded(frontier.record(command.url));
    case "explain":
      return frontier.explain(command.url).state ?? "none";
    case "records":
      return [...frontier.records({ state: command.state })]
        .map((view) => JSON.stringify([view.url, recorded(view)]))
        .sort();
    case "nextDueAt":
      return frontier.nextDueAt() ?? "none";
    case "advance":
      return clock.advance(command.ms);
    case "done":
    case "doneMany":
    case "retry":
    case "fail":
    case "release":
    case "redirect":
    case "extend":
      return performOnLease(side, command, picked);
    default:
      return steer(side, command);
  }
}

/** The rejected total, from one number or from one per reason. */
export function totalOf(rejected: SyncReport["rejected"]): number {
  if (typeof rejected === "number") return rejected;
  return Object.values(rejected).reduce((sum, count) => sum + count, 0);
}

function performOnLease(
  side: Side,
  command: Extract<Command, { lease: number } | { leases: number[] }>,
  picked: readonly number[],
): unknown {
  const leases = picked.flatMap((index) => side.leases[index] ?? []);
  if (command.do === "doneMany") return side.frontier.done(leases);
  const lease = leases[0];
  if (lease === undefined) return "no lease";
  switch (command.do) {
    case "done": {
      const result = lease.done({ found: command.found, outcome: command.outcome });
      return result.late ? "late" : pushed(result);
    }
    case "retry":
      return lease.retry(command.options);
    case "fail":
      return lease.fail("broken", command.outcome);
    case "release":
      return lease.release();
    case "redirect":
      return verdict(lease.redirect(command.url, command.change));
    case "extend":
      return [lease.extend(command.ms), lease.deadlineMs];
  }
}

function steer({ frontier, clock }: Side, command: Command): unknown {
  switch (command.do) {
    case "hostDelay": {
      const host = frontier.host(command.host);
      host.delayMs = command.value;
      return host.delayMs;
    }
    case "hostLimit": {
      const host = frontier.host(command.host);
      host.limit = command.value;
      return host.limit;
    }
    case "hostAddress": {
      const host = frontier.host(command.host);
      host.address = command.address;
      return host.address ?? "none";
    }
    case "hostBlock":
      return frontier.host(command.host).blockUntil(clock.now() + command.value);
    case "hold":
      return frontier.host(command.host).hold();
    case "unhold":
      return frontier.host(command.host).unhold();
    case "update": {
      const { url, priority, dueInMs } = command;
      const due = dueInMs === undefined ? {} : { notBefore: clock.now() + dueInMs };
      return frontier.update(url, { ...(priority === undefined ? {} : { priority }), ...due });
    }
    case "requeue":
      return frontier.requeue({
        state: "failed",
        ...(command.host === undefined ? {} : { host: command.host }),
      });
    case "remove": {
      const { host, pattern } = command;
      return frontier.remove({
        ...(host === undefined ? {} : { host }),
        ...(pattern === undefined && host !== undefined ? {} : { pattern: pattern ?? "" }),
      });
    }
    case "forget":
      return frontier.forget(command.epoch === undefined ? {} : { epoch: command.epoch });
    case "clear":
      return frontier.clear();
    case "setRules": {
      const { failed } = frontier.report();
      frontier.setRules(buildRules(command.rules));
      const lost = frontier.report().failed - failed;
      // The order in which several of them failed is unspecified, but a requeue would show it.
      if (lost > 1) frontier.forget();
      return lost;
    }
    case "pause":
      // Whether a draining frontier may be paused is not the subject of these programs.
      return frontier.status === "draining" ? "skipped" : frontier.pause();
    case "drain":
      return frontier.status === "running" ? void frontier.drain().catch(ignore) : "skipped";
    case "resume":
      return frontier.resume();
    default:
      throw new Error(`unknown command ${command.do}`);
  }
}

/** A drain that ends with the frontier's close instead of its last lease. */
function ignore(): void {}

function took(side: Side, lease: SyncLease): unknown {
  side.leases.push(lease);
  const { url, method, priority, depth, attempt, deliveries, host, deadlineMs } = lease;
  const data = lease.data ?? "none";
  return { url, method, priority, depth, attempt, deliveries, host, data, deadlineMs };
}

function pushed(result: SyncPushResult): unknown {
  const { size, accepted, deferred, duplicate, rejected, full } = result;
  const verdicts = Array.from({ length: size }, (_, index) => verdict(result.verdict(index)));
  return { size, accepted, deferred, duplicate, rejected, full, verdicts };
}

function verdict({ status, reason, admitted }: SyncVerdict): SyncVerdict {
  return { status, ...(reason === undefined ? {} : { reason }), admitted };
}

/**
 * Of a done record only { state, attempts, depth } are kept, of a removed one its depth. How many attempts a record has that
 * waits for its next one is a matter of words and is not compared.
 */
function recorded(view: SyncRecordView | undefined): unknown {
  if (view === undefined) return "unknown";
  const { state, attempts, depth, deliveries } = view;
  if (state === "done" || state === "removed") return { state, attempts, depth };
  if (state === "pending" || state === "waiting") return { state, depth, deliveries };
  return { state, attempts, depth, deliveries };
}
