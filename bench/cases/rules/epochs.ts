/**
 * epochs: push and poll + done of requests that each name one of so many epochs, against the same requests in one epoch.
 *
 *   { url, epoch: e0 … e99,999 } ─▶ pushMany(1,000) ─▶ pollMany(1,000) + done        all epochs stay open
 *
 * Both sides push the same URLs, as objects. Checksum: how many were accepted and came out.
 *
 * Estimate: requests that are more than a URL are admitted one by one, some 2 µs. An epoch's name is hashed and looked up, 200 ns;
 * with 10⁵ of them the name, its entry and its list of members are three cache misses more, 300 ns: 1.2 times the cost, and at
 * most 120 bytes an epoch.
 */
import {
  type BenchCase,
  type Job,
  nowNs,
  numberOf,
  type Params,
  warmSize,
} from "../../harness/case.ts";
import { openWarm } from "../../harness/open-warm.ts";
import { createVirtualClock, type Frontier, openFrontier } from "../../../src/index.ts";

const CALL = 1_000;
const HOSTS = 1_000;

export const epochsCase: BenchCase = {
  name: "epochs",
  suite: "rules",
  about: "push and poll + done of requests that name one of many open epochs, against one epoch",
  unit: "URL",
  process: "fresh",
  pairs: [["many", "one"]],
  target: "bounded memory: ≤ 120 bytes an open epoch",
  sizes: {
    smoke: [{ epochs: 100, pending: 5_000 }],
    real: [{ epochs: 100_000, pending: 300_000 }],
    suite: [{ epochs: 100_000, pending: 300_000 }],
  },
  rounds: 5,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const epochs = side === "one" ? 1 : numberOf(params, "epochs");
  const pending = numberOf(params, "pending");
  const open = (): Promise<Frontier> =>
    openFrontier({ clock: createVirtualClock(1_700_000_000_000), keepOpen: true });
  const warm = async (): Promise<Frontier> => {
    const other = await open();
    drive(other, epochs, warmSize(pending));
    return other;
  };
  const frontier = await openWarm(warm, open);
  let sum = "";
  return {
    run() {
      const { push, poll, accepted, taken, bytes } = drive(frontier, epochs, pending);
      sum = `${accepted} ${taken}`;
      return {
        times: { push: push / pending, "poll + done": poll / Math.max(taken, 1) },
        facts: { "bytes per pending URL": bytes / pending },
      };
    },
    checksum: () => sum,
    close: () => frontier.close(),
  };
}

interface Run {
  readonly push: number;
  readonly poll: number;
  readonly accepted: number;
  readonly taken: number;
  readonly bytes: number;
}

function drive(frontier: Frontier, epochs: number, pending: number): Run {
  let push = 0;
  let accepted = 0;
  for (let from = 0; from < pending; from += CALL) {
    const requests = Array.from({ length: CALL }, (_, n) => requestAt(from + n, epochs));
    const at = nowNs();
    accepted += frontier.pushMany(requests).accepted;
    push += nowNs() - at;
  }
  const bytes = frontier.report().memory.offHeapBytes;
  let taken = 0;
  const at = nowNs();
  for (;;) {
    const leases = frontier.pollMany(CALL);
    if (leases.length === 0) break;
    taken += frontier.done(leases);
  }
  const poll = nowNs() - at;
  return { push, poll, accepted, taken, bytes };
}

function requestAt(index: number, epochs: number): { url: string; epoch: string } {
  const host = (Math.imul(index, 0x9e37_79b1) >>> 0) % HOSTS;
  const url = `https://h${host}.example.com/pages/of/some/length/${index}?id=${index}`;
  return { url, epoch: `e${index % epochs}` };
}
