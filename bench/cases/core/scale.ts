/**
 * scale-…: Outrider against itself, small against large, so that the ratio is the cost of size.
 *
 *   scale-pending    the same 10⁵ pushes and polls on top of 10⁷ pending, and of 10⁵
 *   scale-hosts      polite polls at 10⁶ and 10⁴ hosts, and at 10²
 *   scale-finished   polite polls after 10⁷ finished URLs, and after none
 *
 * The ratio shown is small / large: 1 means that size costs nothing; TARGETS allows 1 / 1.5 = 0.67 (finished: 0.91).
 *
 * Estimate: a push or poll touches some eight lines that no longer lie in a cache, 100 ns each where they cannot overlap:
 * 0.6 to 0.75 for pending and hosts. Finished URLs only make the table larger: 0.95.
 */
import { type BenchCase, type Job, numberOf, type Params } from "../../harness/case.ts";
import { delayFor, drainAll, openWarmQueue, pushAll } from "./rig.ts";

/** Where the URLs that are timed begin: the same ones on both sides. */
const TIMED_FROM = 1_000_000_000;

interface Load {
  readonly hosts: number;
  readonly pending: number;
  readonly finished: number;
  readonly timed: number;
  readonly isPolite: boolean;
}

function scaleCase(
  facts: Pick<BenchCase, "name" | "about" | "target" | "sizes">,
  pairs: BenchCase["pairs"],
  loadOf: (side: string, params: Params) => Load,
): BenchCase {
  return {
    ...facts,
    suite: "core",
    unit: "URL",
    process: "fresh",
    pairs,
    rounds: 5,
    setup: (side, params) => loaded(loadOf(side, params)),
  };
}

export const scalePending: BenchCase = scaleCase(
  {
    name: "scale-pending",
    about: "cost of a push and a poll at many pending URLs against few",
    target: "≥ 0.67",
    sizes: {
      smoke: [{ few: 2_000, many: 10_000, timed: 2_000 }],
      real: [{ few: 100_000, many: 10_000_000, timed: 100_000 }],
      suite: [{ few: 100_000, many: 1_000_000, timed: 100_000 }], // `scaling` continues to 10⁷
    },
  },
  [["many", "few"]],
  (side, params) => ({
    hosts: 10_000,
    pending: numberOf(params, side),
    finished: 0,
    timed: numberOf(params, "timed"),
    isPolite: false,
  }),
);

export const scaleHosts: BenchCase = scaleCase(
  {
    name: "scale-hosts",
    about: "cost of a polite poll at many hosts against a hundred",
    target: "≥ 0.67",
    sizes: {
      smoke: [{ few: 100, some: 500, many: 2_000, pending: 6_000, timed: 2_000 }],
      real: [{ few: 100, some: 10_000, many: 1_000_000, pending: 2_000_000, timed: 200_000 }],
      suite: [{ few: 100, some: 10_000, many: 200_000, pending: 500_000, timed: 100_000 }],
    },
  },
  [
    ["many", "few"],
    ["some", "few"],
  ],
  (side, params) => ({
    hosts: numberOf(params, side),
    pending: numberOf(params, "pending"),
    finished: 0,
    timed: numberOf(params, "timed"),
    isPolite: true,
  }),
);

export const scaleFinished: BenchCase = scaleCase(
  {
    name: "scale-finished",
    about: "cost of a push and a polite poll after many finished URLs against none",
    target: "≥ 0.91",
    sizes: {
      smoke: [{ after: 5_000, fresh: 0, timed: 2_000 }],
      real: [{ after: 10_000_000, fresh: 0, timed: 200_000 }],
      suite: [{ after: 1_000_000, fresh: 0, timed: 200_000 }],
    },
  },
  [["after", "fresh"]],
  (side, params) => ({
    hosts: 10_000,
    pending: numberOf(params, "timed"),
    finished: numberOf(params, side),
    timed: numberOf(params, "timed"),
    isPolite: true,
  }),
);

/** A queue under its load; the run pushes the timed URLs and polls as many. */
async function loaded(load: Load): Promise<Job> {
  const { hosts, pending, finished, timed, isPolite } = load;
  const shape = { hosts, isUniform: true };
  const delayMs = isPolite ? delayFor(hosts) : 0;
  const queue = await openWarmQueue("outrider", delayMs, timed);
  for (let start = 0; start < finished; start += timed) {
    const count = Math.min(timed, finished - start);
    await pushAll(queue, { start, count, shape });
    await drainAll(queue, { count, isPolite });
  }
  await pushAll(queue, { start: finished, count: pending, shape });
  // One round over the hosts, so that they rest and come back as they will while the clock runs.
  const warm = Math.min(hosts, pending - timed);
  if (isPolite && warm > 0) await drainAll(queue, { count: warm, isPolite });
  let taken = 0;
  let accepted = 0;
  return {
    async run() {
      const pushed = await pushAll(queue, { start: TIMED_FROM, count: timed, shape });
      const drained = await drainAll(queue, { count: timed, isPolite });
      accepted = pushed.accepted;
      taken = drained.taken;
      return { times: { push: pushed.spent / timed, "poll + done": drained.spent / taken } };
    },
    checksum: () => `${accepted} accepted, ${taken} taken`,
    close: () => queue.close(),
  };
}
