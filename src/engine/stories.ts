/**
 * Stories: what `records: 'full'` adds to the answers of a frontier, and done records asked for again.
 *
 *   requeue({ state: 'done' }) ─▶ each story that is done ─▶ its identity is new again (counted as forgotten) ─▶ admitted
 *
 *   I1  The seen-set decides what state an identity is in; a story of an identity that it does not know is passed over.
 */
import { FrontierError, memoryFull } from "../base/errors.ts";
import { hasReserve } from "../frontier/admission.ts";
import type { Core } from "../frontier/core.ts";
import { forgetDone } from "../frontier/epochs.ts";
import { comeBackNow } from "../frontier/recrawl.ts";
import { finishedView, isFinishedValue } from "../frontier/transition.ts";
import { VERDICT_DEFERRED } from "../frontier/verdict.ts";
import { parentCreate, parentRelease } from "../structures/record.ts";
import { seenFind } from "../structures/seen-set.ts";
import { unpackExtras } from "./codec.ts";
import type { Gate } from "./gate.ts";
import { pushList } from "./intake.ts";
import type { RecordKeeper, RecordStory } from "./record-keeper.ts";
import type { RecordState, RecordView, RequestInput } from "./types.ts";

interface Where {
  readonly rule?: string | undefined;
  readonly host?: string | undefined;
}

/** A view with what its story adds. */
export function withStory(view: RecordView, story: RecordStory | undefined): RecordView {
  if (story === undefined) return view;
  const { url, host, rule, priority, deliveries, parent, admittedAt, extras } = story;
  const trail: Array<{ state: RecordState; atMs: number }> = [];
  for (let at = 0; at + 1 < story.trail.length; at += 2) {
    trail.push({ state: story.trail[at] as RecordState, atMs: story.trail[at + 1] as number });
  }
  const lastOf = (states: readonly string[]): number | undefined =>
    trail.findLast(({ state }) => states.includes(state))?.atMs;
  const leasedAt = lastOf(["leased"]);
  const finishedAt = ["done", "failed", "removed"].includes(view.state)
    ? lastOf(["done", "failed", "removed"])
    : undefined;
  const data = extras === undefined ? undefined : unpackExtras(extras).d;
  return {
    ...{ url, host, rule, priority, deliveries },
    ...(parent === undefined ? {} : { parent }),
    ...view,
    ...(data === undefined ? {} : { data }),
    times: {
      admittedAt,
      ...(leasedAt === undefined ? {} : { leasedAt }),
      ...(finishedAt === undefined ? {} : { finishedAt }),
    },
    trail,
  };
}

/** Done records, by their stories. */
export function* doneStories(
  core: Core,
  keeper: RecordKeeper,
  where: Where,
  isCurrent: () => boolean,
): Generator<RecordView> {
  for (const { lo, hi, story } of keeper.stories()) {
    if (!isCurrent()) return;
    const value = seenFind(core.seen, lo, hi);
    if (!isDone(value) || !isAt(story, where)) continue;
    const { attempts, depth } = finishedView(value);
    yield withStory({ state: "done", attempts, depth }, story);
  }
}

/** Done records that match stand in line again, with all attempts before them; how many. */
export function requeueDone(gate: Gate, keeper: RecordKeeper, where: Where, nowMs: number): number {
  const { core } = gate;
  const asked = { ...gate, accept: undefined }; // the hook was asked when they came
  let count = 0;
  for (const { lo, hi, story } of keeper.stories()) {
    if (!isAt(story, where)) continue;
    if (comeBackNow(core, lo, hi, nowMs)) {
      count++;
      continue;
    }
    if (!isDone(seenFind(core.seen, lo, hi))) continue;
    if (!hasReserve(core)) {
      if (count === 0) throw memoryFull();
      return count;
    }
    if (core.seen.mode !== "bloom") forgetDone(core, lo, hi);
    if (pushAgain(asked, story, nowMs)) count++;
  }
  return count;
}

/** Throws for a frontier that has no stories to go by. */
export function needKeeper(keeper: RecordKeeper | undefined, what: string): RecordKeeper {
  if (keeper !== undefined) return keeper;
  const message = `${what} "done" (expected: a frontier opened with records: 'full')`;
  throw new FrontierError("UNSUPPORTED", message);
}

function pushAgain(gate: Gate, story: RecordStory, nowMs: number): boolean {
  const { store } = gate.core;
  const { m, b, h, n, k, d } = story.extras === undefined ? {} : unpackExtras(story.extras);
  const request: RequestInput = {
    ...{ url: story.url, depth: story.depth, priority: story.priority },
    ...(m === undefined ? {} : { method: m }),
    ...(b === undefined ? {} : { body: b }),
    ...(h === undefined ? {} : { headers: h }),
    ...(n === undefined ? {} : { handler: n }),
    ...(k === undefined ? {} : { key: k }),
    ...(d === undefined ? {} : { data: d }),
  };
  const parent = story.parent === undefined ? 0 : parentCreate(store, story.parent);
  const context = { nowMs, isOutside: false, isAgain: true, depth: undefined, parent };
  const [code] = pushList(gate, [request], context);
  if (parent !== 0) parentRelease(store, parent);
  return (code as number) <= VERDICT_DEFERRED;
}

function isDone(value: number): boolean {
  return value !== 0 && isFinishedValue(value) && !finishedView(value).isRemoved;
}

function isAt(story: RecordStory, { rule, host }: Where): boolean {
  if (rule !== undefined && rule !== story.rule) return false;
  return host === undefined || host.toLowerCase() === story.host;
}
