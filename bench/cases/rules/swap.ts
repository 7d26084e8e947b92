/**
 * swap: a set of rules taken in place of another under so many pending records; the longest hold of the event loop.
 *
 *   pending under 100 rules ─▶ setRules ─▶ slices on the clock, each timed ─▶ rulesApplied
 *                              other ids: every record moves        the same ids: nothing does
 *
 * The time is that of all slices per pending record; the histogram holds setRules and every slice.
 * Checksum: every record is still pending.
 *
 * Estimate: a slice moves up to 1,600 records, whose hosts decide: each is put in line again, 0.5 µs; one of each host is read as
 * a URL and matched, 3 µs: 1 ms a slice at most, but for code that is not warm yet.
 */
import type { Clock, Frontier } from "../../../src/index.ts";
import { openFrontier } from "../../../src/index.ts";
import { createCallLog } from "../../harness/call-log.ts";
import {
  type BenchCase,
  type Job,
  nowNs,
  numberOf,
  type Params,
  warmSize,
} from "../../harness/case.ts";

const CALL = 1_000;
const RULES = 100;

export const swapCase: BenchCase = {
  name: "swap",
  suite: "rules",
  about:
    "setRules with new ids under many pending records, against the same set again: longest hold",
  unit: "URL",
  process: "fresh",
  pairs: [["other ids", "same ids"]],
  isSameWork: false,
  target: "no hold above 5 ms",
  sizes: {
    smoke: [{ pending: 5_000 }],
    real: [{ pending: 300_000 }, { pending: 10_000_000 }],
  },
  rounds: 1,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const pending = numberOf(params, "pending");
  const warm = warmSize(pending);
  if (warm > 0) await swap(side, warm);
  let left = 0;
  return {
    async run() {
      const { spent, held, percentiles, facts } = await swap(side, pending);
      left = held;
      const slices = { slices: percentiles.count };
      return {
        times: { sweep: spent / pending },
        facts: { ...facts, ...slices },
        latencies: { slice: percentiles },
      };
    },
    checksum: () => `${left} pending`,
  };
}

async function swap(side: string, pending: number): Promise<ReturnType<typeof sweep>> {
  const due: Array<() => void> = [];
  const clock: Clock = {
    now: () => 1_700_000_000_000,
    monotonic: () => nowNs() / 1e6, // slices are over after a while
    schedule(_, fn) {
      due.push(fn);
      return () => {
        const at = due.indexOf(fn);
        if (at >= 0) due.splice(at, 1);
      };
    },
  };
  const frontier = await openFrontier({ clock, rules: rulesOf("a"), keepOpen: true });
  for (let from = 0; from < pending; from += CALL) {
    frontier.pushMany(Array.from({ length: CALL }, (_, n) => urlAt(from + n)));
  }
  const result = await sweep(frontier, due, side === "same ids" ? "a" : "b");
  await frontier.close();
  return result;
}

async function sweep(
  frontier: Frontier,
  due: Array<() => void>,
  prefix: string,
): Promise<
  Awaited<ReturnType<ReturnType<typeof createCallLog>["stop"]>> & { spent: number; held: number }
> {
  const rules = rulesOf(prefix);
  const calls = createCallLog();
  let at = nowNs();
  frontier.setRules(rules);
  let spent = calls.end(at);
  for (let next = due.shift(); next !== undefined; next = due.shift()) {
    at = nowNs();
    next();
    spent += calls.end(at);
  }
  return { spent, held: frontier.report().pending, ...(await calls.stop()) };
}

function rulesOf(prefix: string): Array<{ id: string; match: { domains: string[] } }> {
  return Array.from({ length: RULES }, (_, n) => ({
    id: `${prefix}${n}`,
    match: { domains: [`site${n}.com`] },
  }));
}

function urlAt(index: number): string {
  const at = (Math.imul(index, 0x9e37_79b1) >>> 0) % 1_000;
  return `https://h${at}.site${at % RULES}.com/pages/${index}?id=${index}`;
}
