/** Idle hosts keep all that they are when they are moved, and the order in which they would be forgotten. */
import { expect, it } from "vitest";
import { loadKernelModule } from "../../../../src/engine/kernel-file.ts";
import { createKernel } from "../../../../src/kernel/kernel.ts";
import { arenaPageBytes, arenaUsedBytes } from "../../../../src/memory/arena.ts";
import { compactIdleHosts } from "../../../../src/structures/hosts/compact-hosts.ts";
import { setMemberAddress } from "../../../../src/structures/hosts/group-table.ts";
import { queueOf } from "../../../../src/structures/hosts/host-queue.ts";
import {
  createHostTable,
  HOST_BYTES_WORD,
  HOST_CLOCKED,
  HOST_FLAGS_WORD,
  HOST_TURN_WORD,
  hostCreate,
  hostForget,
  hostLook,
  hostName,
  hostNextIdle,
  type HostTable,
  ruleQueueCreate,
  setHostFlag,
  verifyHosts,
} from "../../../../src/structures/hosts/host-table.ts";
import {
  createStore,
  float,
  setFloat,
  verifyStore,
  word,
} from "../../../../src/structures/store.ts";
import { testRandom } from "../../../support/seed.ts";

const HOSTS = 30_000;

function made() {
  const kernel = createKernel(loadKernelModule(), { initialPages: 256, pageCountMax: 1024 });
  const store = createStore(kernel, Uint32Array.of(1, 2, 3, 4));
  const table = createHostTable(store);
  const rule = ruleQueueCreate(store, 0);
  const random = testRandom("idle hosts");
  const handles = Array.from({ length: HOSTS }, (_, at) => {
    const name = Buffer.from(`${"n".repeat(random.below(40))}${at}`);
    const host = hostCreate(table, name, at * 7 + 1, Math.imul(at + 1, 0x9e3779b1) >>> 0);
    setFloat(store, host, HOST_TURN_WORD, at + 0.5);
    setFloat(store, host, HOST_BYTES_WORD, at * 3);
    return host;
  });
  return { store, table, rule, random, handles };
}

function idle(table: HostTable): number[] {
  const hosts: number[] = [];
  for (let host = hostNextIdle(table, 0); host !== 0; host = hostNextIdle(table, host)) {
    hosts.push(host);
  }
  return hosts;
}

function shown(table: HostTable, hosts: readonly number[]): unknown[] {
  const { store } = table;
  return hosts.map((host) => [
    ...[hostName(table.store, host), float(store, host, HOST_TURN_WORD)],
    ...[float(store, host, HOST_BYTES_WORD), word(store, host, HOST_FLAGS_WORD)],
  ]);
}

it("brings them together, in their order, where the index finds them", () => {
  const { store, table, rule, random, handles } = made();
  const left = handles.filter((host) => {
    if (random.unit() < 0.2) return true;
    hostForget(table, host);
    return false;
  });
  // Others hold the handles of these.
  const [clocked, queued, addressed] = left as [number, number, number];
  setHostFlag(store, clocked, HOST_CLOCKED, true);
  expect(queueOf(table, queued, rule)).toBeGreaterThan(0);
  expect(setMemberAddress(store, addressed, "192.0.2.1")).toBe(true);
  const before = shown(table, left);
  expect(shown(table, idle(table))).toEqual(before);
  const holes = arenaPageBytes(store.arena) - arenaUsedBytes(store.arena);
  compactIdleHosts(table);
  const after = idle(table);
  expect(shown(table, after)).toEqual(before);
  expect(table.idleLast).toBe(after.at(-1));
  expect(after.slice(0, 3)).toEqual([clocked, queued, addressed]);
  expect(after.filter((host, at) => host !== left[at]).length).toBeGreaterThan(500);
  const missed = handles.filter((_, at) => {
    const found = hostLook(table, at * 7 + 1, Math.imul(at + 1, 0x9e3779b1) >>> 0);
    return found !== 0 && !after.includes(found);
  });
  expect(missed).toEqual([]);
  expect(arenaPageBytes(store.arena) - arenaUsedBytes(store.arena)).toBeLessThan(holes / 2);
  verifyHosts(table);
  verifyStore(store);
  for (const host of after.slice(3)) hostForget(table, host);
  verifyHosts(table);
  verifyStore(store);
});

it("changes nothing where memory refuses", () => {
  const { store, table, random, handles } = made();
  const left = handles.filter((host) => {
    if (random.unit() < 0.2) return true;
    hostForget(table, host);
    return false;
  });
  store.region.refuses = () => true;
  compactIdleHosts(table);
  store.region.refuses = undefined;
  expect(idle(table)).toEqual(left);
  verifyHosts(table);
  verifyStore(store);
});
