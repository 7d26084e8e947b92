/**
 * Steering: the calls that change what is known already: update, requeue, remove, forget. Each checks its arguments,
 * makes sure that the journal can hold it, brings the frontier to the present, acts, and closes the call.
 */
import { argument } from "../base/arguments.ts";
import { INTEGER } from "../base/fields.ts";
import { misuse } from "../base/errors.ts";
import type { Core } from "../frontier/core.ts";
import { forgetAll, forgetEpoch } from "../frontier/epochs.ts";
import { FOREVER } from "../frontier/epoch-policy.ts";
import { step } from "../frontier/leases.ts";
import { liveRecord, removeRecords, requeueFailed, updateRecord } from "../frontier/steer.ts";
import { readForget, readRemove, readRequeue, type Where } from "./arguments.ts";
import { lookUp } from "./look-up.ts";
import type { Life } from "./life.ts";
import type { RecordKeeper } from "./record-keeper.ts";
import { readRequest, TIME } from "./request-fields.ts";
import { needKeeper, requeueDone } from "./stories.ts";
import type { RequestLike } from "./types.ts";

/** Room that a steering call wants in the journal, whatever it says in the end. */
export const STEERING_BYTES = 65_536;

const readChange = argument<{ priority?: number; notBefore?: number }>("change", {
  priority: INTEGER,
  notBefore: TIME,
});

/** A pending or waiting record, in place. */
export function update(
  life: Life,
  request: RequestLike,
  change: { priority?: number; notBefore?: number | Date },
): boolean {
  const input = readRequest(request);
  const { priority, notBefore: dueMs } = readChange(change);
  return steer(life, (core, nowMs) => {
    const { hasIdentity, lo, hi } = lookUp(life.gate, input, nowMs);
    const record = hasIdentity ? liveRecord(core, lo, hi) : 0;
    return record !== 0 && updateRecord(core, record, { priority, dueMs }, nowMs);
  });
}

/** `keeper`: the whole records, where they are kept: what is done can come back only from there. */
export function requeue(
  life: Life,
  keeper: RecordKeeper | undefined,
  filter: Where & { state?: "failed" | "done" },
): number {
  const { state, rule, host } = readRequeue(filter);
  const stories = state === "done" ? needKeeper(keeper, "filter.state:") : undefined;
  const where = { rule, host };
  return steer(life, (core, nowMs) =>
    stories === undefined
      ? requeueFailed(core, where, nowMs)
      : requeueDone(life.gate, stories, where, nowMs),
  );
}

export function remove(life: Life, filter: Where & { pattern?: string }): number {
  const { host, rule, pattern } = readRemove(filter);
  return steer(life, (core, nowMs) => removeRecords(core, { host, rule, pattern }, nowMs));
}

/** `refresh`: tells the workers that what was seen may come again. */
export function forget(life: Life, filter: { epoch?: string }, refresh: () => void): number {
  const { epoch } = readForget(filter);
  const { core } = life.need();
  if (epoch !== undefined && core.seen.mode === "bloom") {
    const expected = "none: mode 'bloom' can forget all or nothing";
    throw misuse("OPTION_INVALID", "filter.epoch", epoch, expected);
  }
  return steer(life, (open, nowMs) => {
    const count = epoch === undefined ? forgetAll(open) : forgetEpoch(open, epoch, nowMs);
    if (epoch === undefined || epoch === FOREVER) life.gate.visited = undefined;
    refresh();
    return count;
  });
}

/** One steering call: nothing is changed where the journal can not hold it. */
function steer<T>(life: Life, act: (core: Core, nowMs: number) => T): T {
  const { core, nowMs } = life.need();
  life.durable?.need(STEERING_BYTES);
  step(core, nowMs);
  const answer = act(core, nowMs);
  life.end(nowMs);
  return answer;
}
