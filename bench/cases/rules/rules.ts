/**
 * rules: push and poll + done under so many rules, one per domain, against one rule that takes everything.
 *
 *   URLs over so many hosts ─▶ pushMany(1,000) ─▶ pollMany(1,000) + done
 *
 * Both sides get the same URLs. Checksum: how many were accepted and came out; the order differs, since rules share.
 *
 * Estimate: 30 records a rule. One look at the memo of hosts 40 ns, the rule's line, lane and last record three cache misses
 * that overlap 60 ns; the first record of each rule and the first sight of each host 3 µs more, 100 ns a URL: 1.3 times the
 * cost of some 700. A poll takes the next of a line, 20 ns; records are read out of order, 150 ns of some 750. With 120 records
 * a rule the firsts weigh a quarter.
 */
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { openWarm } from "../../harness/open-warm.ts";
import { createVirtualClock, type Frontier, openFrontier } from "../../../src/index.ts";

const CALL = 1_000;

export const rulesCase: BenchCase = {
  name: "rules",
  suite: "rules",
  about: "push and poll + done under many rules, one per domain, against one rule",
  unit: "URL",
  process: "fresh",
  pairs: [["many", "one"]],
  target: "push ≥ 0.77 (10⁴ rules cost at most 1.3 × one)",
  sizes: {
    smoke: [{ rules: 100, pending: 5_000 }],
    real: [
      { rules: 1, pending: 300_000 },
      { rules: 100, pending: 300_000 },
      { rules: 10_000, pending: 300_000 },
      { rules: 10_000, pending: 1_200_000 },
    ],
    suite: [{ rules: 10_000, pending: 300_000 }],
  },
  rounds: 5,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const count = numberOf(params, "rules");
  const pending = numberOf(params, "pending");
  const hosts = Math.max(count, 1_000);
  const rules =
    side === "one"
      ? [{ id: "all" }]
      : Array.from({ length: count }, (_, n) => ({
          id: `r${n}`,
          match: count === 1 ? {} : { domains: [`site${n}.com`] },
        }));
  const open = (): Promise<Frontier> =>
    openFrontier({ clock: createVirtualClock(1_700_000_000_000), rules, keepOpen: true });
  const warm = async (): Promise<Frontier> => {
    const other = await open();
    drive(other, count, Math.min(pending, 50_000), hosts);
    return other;
  };
  const frontier = await openWarm(warm, open);
  let sum = "";
  return {
    run() {
      const { push, poll, accepted, taken } = drive(frontier, count, pending, hosts);
      sum = `${accepted} ${taken}`;
      return { times: { push: push / pending, "poll + done": poll / Math.max(taken, 1) } };
    },
    checksum: () => sum,
    close: () => frontier.close(),
  };
}

function drive(
  frontier: Frontier,
  count: number,
  pending: number,
  hosts: number,
): { push: number; poll: number; accepted: number; taken: number } {
  let push = 0;
  let accepted = 0;
  for (let from = 0; from < pending; from += CALL) {
    const urls = Array.from({ length: CALL }, (_, n) => urlAt(from + n, count, hosts));
    const at = nowNs();
    accepted += frontier.pushMany(urls).accepted;
    push += nowNs() - at;
  }
  let taken = 0;
  const at = nowNs();
  for (;;) {
    const leases = frontier.pollMany(CALL);
    if (leases.length === 0) break;
    taken += frontier.done(leases);
  }
  return { push, poll: nowNs() - at, accepted, taken };
}

/** Hosts in an order without pattern, each under a domain that has a rule. */
function urlAt(index: number, count: number, hosts: number): string {
  const host = Math.imul(index, 0x9e37_79b1) >>> 0;
  const at = host % hosts;
  return `https://h${at}.site${at % count}.com/pages/of/some/length/${index}?id=${index}`;
}
