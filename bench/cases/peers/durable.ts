/**
 * peers-durable: frontiers that keep their URLs in a directory, killed in the middle and opened again.
 *
 *   push all ─▶ poll half, done ─▶ flush ─▶ SIGKILL ─▶ open again (resume) ─▶ poll all
 *
 * lost: never came out. doubled: came out again though it was done before the kill. Peers without acknowledgement or flush
 * are taken as they are: what they handed out counts as done. Ours may neither lose nor double, or the case fails.
 *
 * Estimate, nanoseconds a URL: outrider push 450 with a journal, resume 400 a pending URL; sync adds an fdatasync of 0.3 ms to a call
 * of 1,000: 300. lmdb a commit with its sync a call, 4 ms: 4,000 on top of 6,000, resume nothing. Crawlee a file a request: 700,000.
 */
import type { BenchCase, Job, Params } from "../../harness/case.ts";
import { PEERS } from "../../peers/index.ts";
import { factsOf, isGuest, openGround, peerMissing, tally } from "./run.ts";

export const peersDurable: BenchCase = {
  name: "peers-durable",
  suite: "peers",
  about: "the same with a directory: a kill in the middle, then resume; lost and doubled URLs",
  question: "What survives a kill, and what does that cost?",
  unit: "URL",
  process: "fresh",
  pairs: PEERS.filter(({ name }) => name !== "outrider").map(({ name }) => ["outrider", name]),
  isSameWork: false,
  isGuest,
  target: "0 lost, 0 doubled",
  sizes: {
    smoke: [{ urls: 500 }],
    real: [{ urls: 2_000 }, { urls: 20_000 }, { urls: 200_000 }],
    // The smallest is Crawlee's: its time grows with the square of the files.
    suite: [{ urls: 10_000 }, { urls: 2_000 }, { urls: 200_000 }],
  },
  rounds: 3,
  setup,
  missing: (side, params) => peerMissing(side, params, true),
};

function setup(side: string, params: Params): Job {
  let ground = openGround(side, params);
  let said = "";
  return {
    async run() {
      ground.close();
      ground = openGround(side, params);
      const fill = await ground.course("fill");
      const resume = await ground.course("resume");
      const counts = tally(ground.wanted, [...fill.polled, ...resume.polled]);
      said = JSON.stringify(counts);
      const isExact = counts.lost + counts.doubled + counts.foreign === 0;
      if (side.startsWith("outrider") && !isExact) throw new Error(`${side}: ${said}`);
      const { answer } = fill;
      const left = Math.max(1, ground.wanted.size - fill.polled.length);
      return {
        times: { push: answer.pushNs / answer.pushed, resume: resume.answer.openNs / left },
        facts: {
          "resume ms": resume.answer.openNs / 1e6,
          ...factsOf(answer, ground.wanted.size),
          ...counts,
        },
      };
    },
    checksum: () => said,
    close: () => ground.close(),
  };
}
