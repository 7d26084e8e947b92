/**
 * workloads: the same frontier over every kind of workload that there is (docs/formats/workload.md).
 *
 *   uniform   all different, every host equally often          zipf   all different, few hosts have most of them
 *   crawl     links as a crawl meets them: 60 to 90 of 100 were pushed before
 *   real      a list of the user's (BENCH_URLS, or shared/data beside the repository), its duplicates kept
 *
 *   source, 1,000 a call ─▶ push all ─▶ pollMany(1,000) + done, all
 *
 * Sides: outrider · plain. Checksum: how many were accepted, and every URL that came out, in order; of `real` only how many, since two
 * canonical forms spell some of a wild list differently.
 *
 * Estimate, nanoseconds a URL, outrider and plain: uniform and zipf push 450 and 2,600, crawl 230 and 1,900 (a duplicate is a hash and a
 * look at one line, in plain a `URL` and a look into a `Set`), real 350 and 2,500 of longer URLs. Poll is that of `frontier`.
 */
import type { BenchCase, Job, Params } from "../../harness/case.ts";
import { nowNs, numberOf } from "../../harness/case.ts";
import { createTextSum } from "../../harness/urls.ts";
import { openSource, type Recipe, realFile } from "../../workload/generate.ts";
import { drainAll, openWarmQueue } from "./rig.ts";

const CALL = 1_000;
/** The wild list at hand has 48,000 lines. */
const REAL = { kind: "real", urls: 40_000 };

export const workloads: BenchCase = {
  name: "workloads",
  suite: "core",
  about: "push, and poll + done, over uniform, Zipf and crawl-shaped URLs, and a real list",
  question: "What does the shape of the URLs change?",
  unit: "URL",
  process: "fresh",
  pairs: [["outrider", "plain"]],
  sizes: {
    smoke: [
      { kind: "zipf", urls: 2_000 },
      { kind: "uniform", urls: 2_000 },
      { kind: "crawl", urls: 2_000 },
      { kind: "real", urls: 2_000 },
    ],
    real: [
      { kind: "zipf", urls: 1_000_000 },
      { kind: "uniform", urls: 1_000_000 },
      { kind: "crawl", urls: 1_000_000 },
      REAL,
    ],
    suite: [
      { kind: "zipf", urls: 200_000 },
      { kind: "uniform", urls: 200_000 },
      { kind: "crawl", urls: 200_000 },
      REAL,
    ],
    large: [{ kind: "zipf", urls: 10_000_000 }],
  },
  rounds: 3,
  setup,
  missing: (_, { kind }) =>
    kind === "real" && realFile() === undefined ? "no list of URLs: BENCH_URLS" : undefined,
};

async function setup(side: string, params: Params): Promise<Job> {
  const recipe = recipeOf(params);
  const queue = await openWarmQueue(side, 0, recipe.urls);
  const sum = createTextSum();
  let accepted = 0;
  return {
    async run() {
      const source = openSource(recipe);
      let [push, told] = [0, 0];
      while (told < recipe.urls) {
        const urls = source.next(Math.min(CALL, recipe.urls - told));
        if (urls.length === 0)
          throw new Error(`${recipe.kind}: ${told} (expected: ${recipe.urls})`);
        const at = nowNs();
        const answer = queue.push(urls);
        accepted += typeof answer === "number" ? answer : await answer;
        push += nowNs() - at;
        told += urls.length;
      }
      const drained = await drainAll(queue, { count: accepted, isPolite: false, sum });
      return {
        times: { push: push / told, "poll + done": drained.spent / Math.max(1, drained.taken) },
        facts: { "duplicates %": 100 * (1 - accepted / told) },
      };
    },
    checksum: () => `${accepted} accepted, ${recipe.kind === "real" ? "" : sum.value()}`,
    close: () => queue.close(),
  };
}

function recipeOf(params: Params): Recipe {
  const urls = numberOf(params, "urls");
  const kind = params.kind as Recipe["kind"];
  const hosts = Math.max(10, Math.ceil(urls / 200));
  return kind === "crawl" ? { kind, urls, hosts, menu: 8 } : { kind, urls, hosts };
}
