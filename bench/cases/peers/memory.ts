/**
 * peers-memory: frontiers side by side, through the same steps over the same file of URLs, each in a process of its own.
 *
 *   links of a crawl, 70 to 80 % duplicates ─▶ push all ─▶ poll all ─▶ done all          calls of 1,000
 *
 * A push is one link, a poll and a done one page. Every side counts what it lost and doubled; ours and the plain one
 * may do neither, or the case fails. The order is each peer's own, so there is no checksum of it.
 *
 * Poll all holds every lease that there is: 13,000 objects that live, and that the collector of young objects copies twice. No crawler
 * does that, but the others are asked the same. `outrider-turns` finishes each thousand before it polls the next. By the thread's own
 * clock poll + done takes 1.1 to 1.3 µs held, 0.9 to 1.05 in turn: 1.0 to 1.2 for the first nine thousand leases, while code is
 * compiled, 0.3 to 0.45 from then on. The whole of it is 15 ms, of which one collection is a tenth.
 *
 * Estimate, nanoseconds: outrider push 650, poll 1,200, done 1,400; in turn push 650 (a duplicate makes no record), poll 350, done
 * 200. Plain 2,000, 40 and 10. lmdb 6,000 (a lookup each, two puts for a quarter of them), 1,000 and 1,500. Crawlee
 * 70,000 and 400,000. Scrapy 110,000 and 3,000.
 */
import type { BenchCase, Job, Params } from "../../harness/case.ts";
import { PEERS } from "../../peers/index.ts";
import { factsOf, isGuest, openGround, peerMissing, tally } from "./run.ts";

const EXACT = ["outrider", "outrider-turns", "plain", "outrider-hosts"];

export const peers: BenchCase = {
  name: "peers-memory",
  suite: "peers",
  about: "push all, poll all, done all of other frontiers, over the links of a crawl",
  question: "How does it stand beside other frontiers?",
  unit: "URL",
  process: "fresh",
  pairs: [
    ...PEERS.filter(({ name }) => !name.startsWith("outrider")).map(
      ({ name }) => ["outrider", name] as const,
    ),
    ["outrider-turns", "plain"],
    ["outrider-turns", "crawlee"],
    ["outrider-turns", "scrapy"],
    ["outrider-turns", "webmagic"],
  ],
  isSameWork: false,
  isGuest,
  target:
    "push ≥ 100 × Crawlee's and Scrapy's, ≥ 1.5 × WebMagic's; poll + done ≥ 300 × Crawlee's, ≥ 5 × Scrapy's, ≥ 0.5 × WebMagic's",
  sizes: {
    smoke: [{ urls: 500 }],
    real: [{ urls: 50_000 }, { urls: 1_000_000 }],
    suite: [{ urls: 50_000 }, { urls: 1_000_000 }],
  },
  rounds: 3,
  worth: 3,
  setup,
  missing: (side, params) => peerMissing(side, params, false),
};

/**
 * The same with a queue for each host: Scrapy's visits every host at each poll, ours is in order. Beside it ours without the turns
 * of hosts, which is what they cost.
 *
 * Estimate at 10⁴ hosts, nanoseconds: outrider push 900, poll + done 1,100 as `polite`; Scrapy push 120,000, poll 1,300,000.
 */
export const peersHosts: BenchCase = {
  name: "peers-hosts",
  suite: "peers",
  about: "push all, poll all, done all where the turns of hosts rotate, over different URLs",
  question: "What do many hosts cost?",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider-hosts", "scrapy-hosts"],
    ["outrider-hosts", "outrider"],
  ],
  isSameWork: false,
  isGuest,
  target: "poll + done ≥ 500 × Scrapy's queue for each host at 10⁴ hosts",
  sizes: {
    smoke: [{ urls: 500, hosts: 50 }],
    real: [
      { urls: 20_000, hosts: 100 },
      { urls: 20_000, hosts: 10_000 },
    ],
    suite: [{ urls: 10_000, hosts: 10_000 }],
  },
  rounds: 3,
  setup,
  missing: (side, params) => peerMissing(side, params, false),
};

function setup(side: string, params: Params): Job {
  const ground = openGround(side, params);
  let said = "";
  return {
    async run() {
      const { answer, polled } = await ground.course("memory");
      const counts = tally(ground.wanted, polled);
      said = JSON.stringify(counts);
      const isExact = counts.lost + counts.doubled + counts.foreign === 0;
      if (EXACT.includes(side) && !isExact) throw new Error(`${side}: ${said}`);
      const { pushNs, pollNs, doneNs } = answer;
      const both = pollNs + (doneNs ?? 0);
      return {
        times: {
          push: pushNs / answer.pushed,
          poll: pollNs / Math.max(1, answer.polled),
          ...(doneNs === undefined ? {} : { done: doneNs / Math.max(1, answer.polled) }),
          "poll + done": both / Math.max(1, answer.polled),
        },
        facts: { ...factsOf(answer, ground.wanted.size), ...counts },
      };
    },
    checksum: () => said,
    close: () => ground.close(),
  };
}
