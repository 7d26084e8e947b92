/**
 * broad: almost as many hosts as URLs, in memory and with hosts on disk, against plain JavaScript.
 *
 *   pending URLs over h hosts ─▶ pushed in calls of 1,000 ─▶ polls polite calls of 32 leases, done, + 1 ms
 *   outrider          in memory
 *   outrider-disk     a directory, memoryBytes as named: hosts go to disk in the order of their return (decision 0018)
 *   plain             objects, a heap of hosts
 *
 * Hosts never run out: the delay is h / 64 ms, one lease a host. The clock is virtual. Checksum: every URL in order, which must be plain's.
 *
 * Estimate, made before: a new host is a name, a host, a queue, a lane, an index entry and a clock, some 300 bytes and ten lines written: 600 ns a
 * push in memory, against some 2.5 µs of plain's objects at 10⁶. To disk a host is 200 bytes packed, checksummed and written, 400 ns, and as much to come
 * back: pushes 1 to 1.5 µs, polls 2 µs. Resident: 300 bytes a host in memory; on disk 20 and the bound.
 * Since a host of one record is that record (decision 0019): one object of three lines a new host, 350 ns a push; the host is made at the poll, 200 ns
 * more. Resident: 105 bytes and the URL. To disk one object less is read and freed for each of four: pushes 0.8 µs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCallLog } from "../../harness/call-log.ts";
import { type BenchCase, type Job, numberOf, type Params } from "../../harness/case.ts";
import { memoryNow } from "../../harness/machine.ts";
import { openWarm } from "../../harness/open-warm.ts";
import { createTextSum } from "../../harness/urls.ts";
import { openOutrider } from "../../peers/outrider/queue.ts";
import { openPlain } from "../../peers/plain/queue.ts";
import type { Queue } from "../../peers/queue.ts";
import { delayFor, drainAll, pushAll, warmUp } from "./rig.ts";

const MIB = 2 ** 20;
/** So that hosts go to disk in a warm-up too. */
const WARM_MIB = 1;

export const broad: BenchCase = {
  name: "broad",
  suite: "core",
  about: "push, and polite poll + done, with almost as many hosts as URLs, in memory and on disk",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider", "plain"],
    ["outrider-disk", "plain"],
  ],
  target: "push ≥ 6 × in memory; on disk push ≥ 350,000/s, poll + done ≥ 200,000/s",
  sizes: {
    smoke: [{ hosts: 2_000, pending: 4_000, polls: 1_000, MiB: 1 }],
    real: [
      { hosts: 1_000, pending: 1_000_000, polls: 200_000, MiB: 64 },
      { hosts: 400_000, pending: 1_000_000, polls: 200_000, MiB: 64 },
      { hosts: 1_000_000, pending: 1_000_000, polls: 200_000, MiB: 64 },
    ],
    suite: [{ hosts: 100_000, pending: 120_000, polls: 20_000, MiB: 8 }],
    large: [
      { hosts: 5_000_000, pending: 5_000_000, polls: 500_000, MiB: 256 },
      { hosts: 10_000_000, pending: 20_000_000, polls: 1_000_000, MiB: 512 },
    ],
  },
  rounds: 3,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const hosts = numberOf(params, "hosts");
  const pending = numberOf(params, "pending");
  const polls = numberOf(params, "polls");
  const delayMs = delayFor(hosts);
  const folder = mkdtempSync(join(tmpdir(), "bench-broad-"));
  const openIn = (name: string, MiB: number): Promise<Queue> =>
    open(side, delayMs, { folder: join(folder, name), MiB });
  let warmed = 0;
  const warm = async (): Promise<Queue> =>
    warmUp(await openIn(`warm-${warmed++}`, WARM_MIB), delayMs, pending);
  const queue = await openWarm(warm, () => openIn("measured", numberOf(params, "MiB")));
  const sum = createTextSum();
  const before = memoryNow();
  return {
    async run() {
      const calls = createCallLog();
      const shape = { hosts, isUniform: true };
      const pushed = await pushAll(queue, { start: 0, count: pending, shape, calls });
      const { residentBytes } = memoryNow();
      const drained = await drainAll(queue, { count: polls, isPolite: true, sum });
      const { facts, percentiles } = await calls.stop();
      return {
        times: { push: pushed.spent / pending, "poll + done": drained.spent / drained.taken },
        latencies: { "pushMany(1000)": percentiles },
        facts: {
          ...facts,
          "resident bytes/URL": (residentBytes - before.residentBytes) / pending,
          "resident MB at the end": memoryNow().residentBytes / 1e6,
        },
      };
    },
    checksum: () => sum.value(),
    async close() {
      await queue.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function open(
  side: string,
  delayMs: number,
  { folder, MiB }: { folder: string; MiB: number },
): Promise<Queue> {
  if (side === "plain") return Promise.resolve(openPlain({ delayMs }));
  if (side === "outrider") return openOutrider({ delayMs });
  const seen = { memoryBytes: Math.max(MiB / 4, 1) * MIB };
  return openOutrider({ delayMs }, { directory: folder, memoryBytes: MiB * MIB, seen });
}
