/**
 * Hosts on disk (docs/decisions/0018): a frontier of many hosts in which any of them may be on disk at any step, against one that keeps all
 * in memory. Every lease, answer and report is the same. Broken copies of what decides who comes back are caught. `SEED=` repeats a run.
 */
import { describe, expect, it, vi } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { memoryFull } from "../../src/base/errors.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import type { Core } from "../../src/frontier/core.ts";
import type { Spilling } from "../../src/frontier/scheduling/spill-state.ts";
import type { RequestInput } from "../../src/index.ts";
import { pushNamed } from "../../src/engine/api/push-list.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import { coreOf, verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { HOST_READY_AT_WORD, HOST_TURN_WORD } from "../../src/structures/hosts/host-table.ts";
import { setFloat } from "../../src/structures/store.ts";
import { openSpillTier } from "../../src/persistence/spill/spill-files.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";

const START_MS = 1_700_000_000_000;
const HOSTS = 120;

interface Side {
  readonly frontier: LocalFrontier;
  readonly clock: ReturnType<typeof createVirtualClock>;
  readonly leases: ReturnType<LocalFrontier["poll"]>[];
}

/** What the programs have been through, so that a run that spilled nothing fails. */
interface Met {
  spilled: number;
  added: number;
}

function open(options: object, isSpilling: boolean): Side {
  const clock = createVirtualClock(START_MS);
  const settings = normalizeOptions({ ...options, clock, seed: 1, memoryBytes: 1 } as object);
  const tier = openSpillTier({
    directory: "/spill",
    files: createMemoryFiles(),
    segmentBytes: 4096,
  });
  const spill = isSpilling ? { spill: { tier, blockLeast: 1 } } : {};
  return { frontier: new LocalFrontier({ ...settings, ...spill }), clock, leases: [] };
}

/** Options under which hosts have turns and clocks. */
function optionsOf(random: Random): object {
  const depth = random.below(3) === 0 ? { depthPriority: random.below(3) - 1 } : {};
  const delayMs = random.below(4) === 0 ? 0 : 1 + random.below(30);
  const order = random.below(3) === 0 ? { order: "lifo" } : {};
  const politeness = { delayMs, perHost: 1 + random.below(2) };
  return { defaults: { politeness, ...order, ...depth } };
}

/** One call, the same on both sides; what it answered. */
type Call = (side: Side) => unknown;

function nextCall(random: Random, leases: number): Call {
  const host = (): string => `http://h${random.below(HOSTS)}.test`;
  const urls = Array.from({ length: 1 + random.below(12) }, () => `${host()}/${random.below(40)}`);
  // More than a URL: such rows are decided one by one.
  const requests = urls.map(
    (url): RequestInput => ({
      ...{ url, priority: random.below(4) === 0 ? 1 : -random.below(3), depth: random.below(3) },
      ...(random.below(3) === 0 ? { data: { at: random.below(9) } } : {}),
      ...(random.below(9) === 0 ? { dedup: "skip" as const } : {}),
    }),
  );
  const priority = random.below(3) - 1;
  const one = random.below(Math.max(leases, 1));
  const by = random.below(20);
  const key = `h${random.below(HOSTS)}.test`;
  switch (random.below(18)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return ({ frontier }) => frontier.pushMany(urls);
    case 4:
      return ({ frontier }) => frontier.pushMany(urls, { priority });
    case 5:
      return ({ frontier }) => frontier.push({ url: urls[0] as string, priority, depth: by });
    case 15:
      return ({ frontier }) => frontier.pushMany(requests);
    case 6:
      return ({ frontier }) => frontier.nextDueAt() === undefined;
    case 7:
      return ({ frontier }) => frontier.remove({ host: key });
    case 8:
      return ({ frontier }) => frontier.peek(3).map(({ url }) => url);
    case 9:
      return ({ frontier, clock }) => frontier.host(key).blockUntil(clock.now() + by);
    case 10:
      return ({ frontier }) => frontier.explain(urls[0] as string).verdict;
    case 11:
      return ({ clock }) => clock.advance(by);
    case 12:
      return ({ leases: all }) => all[one]?.done({ found: urls });
    case 13:
      return ({ leases: all }) => (by < 10 ? all[one]?.release() : all[one]?.retry());
    case 14:
      return ({ frontier }) => (by === 0 ? frontier.forget() : frontier.record(urls[0] as string));
    default:
      return ({ frontier, leases: all }) => {
        const got = frontier.pollMany(1 + by);
        all.push(...got);
        return got.map(({ url, depth, attempt, data, parent }) => [
          url,
          depth,
          attempt,
          data,
          parent,
        ]);
      };
  }
}

it.each(["pushMany", "pushNamed"])(
  "takes a request that is more than a URL to its host on disk without reading that: %s",
  async (how) => {
    const { frontier, clock } = open(
      { defaults: { politeness: { delayMs: 1, perHost: 1 } } },
      true,
    );
    const urls = Array.from({ length: 200 }, (_, at) => `http://h${at}.test/`);
    frontier.pushMany(urls);
    const core = coreOf(frontier);
    const { spilled } = core.hosts;
    expect(spilled).toBeGreaterThan(100);
    const requests = urls.map((url) => ({ url: `${url}more`, priority: -1, data: { url } }));
    const read = vi.spyOn((core.spilling as Spilling).spill.tier, "read");
    const named = {
      urls: requests.map(({ url }) => url),
      epochs: urls.map((_, at) => `q:${at % 7}`),
      data: requests.map(({ data }) => data),
    };
    const pushed = how === "pushNamed" ? pushNamed(frontier, named) : frontier.pushMany(requests);
    expect(pushed.accepted).toBe(200);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
    verifyFrontier(frontier as never);
    const met = new Map<string, unknown>();
    for (let rest = 400; rest > 0; ) {
      const leases = frontier.pollMany(50);
      for (const lease of leases) {
        met.set(lease.url, lease.data);
        lease.done();
      }
      rest -= leases.length;
      clock.advance(1);
    }
    for (const { url, data } of requests) expect(met.get(url)).toEqual(data);
    await frontier.close();
  },
);

it("keeps the names and data of rows beside hosts that find no room to come back", async () => {
  const { frontier } = open({ defaults: { politeness: { delayMs: 1, perHost: 1 } } }, true);
  const urls = Array.from({ length: 200 }, (_, at) => `http://h${at}.test/`);
  frontier.pushMany(urls, { priority: -1 });
  const core = coreOf(frontier);
  const read = vi.spyOn((core.spilling as Spilling).spill.tier, "read");
  read.mockImplementation(() => {
    throw memoryFull();
  });
  const rows = [...urls.map((url) => `${url}first`), "http://other.test/"];
  const epochs = rows.map(() => "q:one");
  const pushed = pushNamed(frontier, { urls: rows, epochs, data: rows });
  expect(read).toHaveBeenCalled();
  read.mockRestore();
  expect(pushed.verdict(200).admitted).toBe(true);
  expect(frontier.record({ url: "http://other.test/", epoch: "q:one" })?.data).toBe(rows[200]);
  verifyFrontier(frontier as never);
  await frontier.close();
});

function look(core: Core, met: Met): void {
  const { away } = core.spilling as Spilling;
  met.spilled = Math.max(met.spilled, core.hosts.spilled);
  if (away.added > 0) met.added++;
}

/** Plays one program on both sides; throws at the first difference. */
async function play(
  random: Random,
  calls: number,
  met: Met,
  hurt?: (core: Core) => void,
): Promise<void> {
  const options = optionsOf(random);
  const trusted = open(options, false);
  const suspect = open(options, true);
  try {
    for (let index = 0; index < calls; index++) {
      const call = nextCall(random, trusted.leases.length);
      hurt?.(coreOf(suspect.frontier));
      const [said, answer] = [call(trusted), call(suspect)];
      expect(answer, `call ${index} of ${JSON.stringify(options)}`).toEqual(said);
      look(coreOf(suspect.frontier), met);
      if (index % 50 !== 0) continue;
      verifyFrontier(suspect.frontier as never);
      const counts = ({ frontier }: Side): unknown => {
        const { pending, leased, done, failed, removed, forgotten, hosts, seen } =
          frontier.report();
        return { pending, leased, done, failed, removed, forgotten, hosts, seen };
      };
      expect(counts(suspect)).toEqual(counts(trusted));
    }
    drain(trusted, suspect);
  } finally {
    await trusted.frontier.close();
    await suspect.frontier.close();
  }
}

/** All that is left goes out in the same order, whenever it may. */
function drain(trusted: Side, suspect: Side): void {
  for (const side of [trusted, suspect]) for (const lease of side.leases) lease?.done();
  for (let step = 0; trusted.frontier.report().pending > 0 && step < 2_000; step++) {
    const [one, other] = [trusted, suspect].map(({ frontier, clock }) => {
      const leases = frontier.pollMany(5);
      for (const lease of leases) lease.done();
      clock.advance(7);
      return leases.map(({ url }) => url);
    });
    expect(other).toEqual(one);
  }
  expect(suspect.frontier.report().pending).toBe(trusted.frontier.report().pending);
}

/** What a broken copy does wrong, brought about from outside before every call. */
const FAULTS: Record<string, (core: Core) => void> = {
  "hosts that wait on disk come back late": ({ spilling }) => {
    (spilling as Spilling).readAtMs = Number.POSITIVE_INFINITY;
  },
  "hosts come back without their turn": ({ spilling, store }) => {
    const { spill } = spilling as Spilling;
    spill.onHosts = (hosts) => {
      for (const host of hosts) setFloat(store, host, HOST_TURN_WORD, 0);
    };
  },
  "hosts come back without the delay that was set for them": ({ spilling, store }) => {
    const { spill } = spilling as Spilling;
    spill.onHosts = (hosts) => {
      for (const host of hosts) setFloat(store, host, HOST_READY_AT_WORD, 0);
    };
  },
};
const ROUNDS_MOST = 20;

describe("a frontier whose hosts are on disk and one whose hosts are in memory", () => {
  it("hand out the same in the same order, whatever is pushed to hosts on disk meanwhile", async () => {
    const seed = testSeed("hosts on disk");
    const met: Met = { spilled: 0, added: 0 };
    for (let round = 0; round < sized(12, 3); round++) {
      await play(createRandom((seed + round) >>> 0), 250, met);
    }
    expect(met.spilled, "hosts were on disk").toBeGreaterThan(50);
    expect(met.added, "records were added to hosts on disk").toBeGreaterThan(50);
  }, 600_000);

  it.each(Object.keys(FAULTS))(
    "are told apart when %s",
    async (fault) => {
      const seed = testSeed(fault);
      const met: Met = { spilled: 0, added: 0 };
      let caught: unknown;
      for (let round = 0; caught === undefined && round < ROUNDS_MOST; round++) {
        const random = createRandom((seed + round) >>> 0);
        await play(random, 250, met, FAULTS[fault]).catch((error) => {
          if (error instanceof TypeError) throw error; // of the test itself
          caught = error;
        });
      }
      expect(caught).toBeDefined();
    },
    600_000,
  );
});
