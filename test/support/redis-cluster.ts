/**
 * A Redis Cluster of a test: three masters with a replica each on loopback ports, real processes in folders of their own, ended by their pids.
 *
 *   0 ──▶ 3      16,384 slots in three thirds; node n + 3 replicates node n
 *   1 ──▶ 4
 *   2 ──▶ 5      a master that does not answer for three seconds, as a busy machine does not keep one from its work, is replaced by its replica
 */
import { freePort } from "./free-port.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

const MASTERS = 3;
const SLOTS = 16_384;
const DEADLINE_MS = 120_000;
const NODE_TIMEOUT_MS = 3_000;

export interface ClusterNode extends RedisServer {
  readonly number: number;
  /** Its id in the cluster. */
  readonly id: string;
}

export interface RedisCluster {
  readonly nodes: readonly ClusterNode[];
  /** Addresses for a client: every node. */
  readonly addresses: ReadonlyArray<{ readonly host: string; readonly port: number }>;
  /** The nodes that are masters now, by the slots that they serve. */
  masters(): Promise<ClusterNode[]>;
  /** Resolves when every slot is served and every node agrees. */
  ready(): Promise<void>;
  /** Resolves when the replica of a master has all that the master acknowledged before this moment, in milliseconds since 1970. */
  replicated(master: ClusterNode): Promise<number>;
  /** Kills a master; resolves when its replica has taken over. Until then a restart would bring it back as an empty master. */
  lose(master: ClusterNode): Promise<void>;
  /**
   * Moves slots from one master to another, some keys at a time, as `redis-cli --cluster reshard` does. Waits for `met` wherever the old
   * master refuses calls for a slot: TRYAGAIN while half of its keys are gone, ASK when all are, MOVED at the end.
   */
  moveSlots(
    from: ClusterNode,
    to: ClusterNode,
    slots: readonly number[],
    met?: (refusal: "TRYAGAIN" | "ASK" | "MOVED") => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Starts it and waits until it serves every slot. */
export async function startCluster(
  settings: Readonly<Record<string, string>> = {},
): Promise<RedisCluster> {
  const nodes: ClusterNode[] = [];
  const cluster: RedisCluster = {
    nodes,
    get addresses() {
      return nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
    },
    masters: () => mastersOf(nodes),
    ready: () => until("a whole cluster", () => isWhole(nodes)),
    replicated,
    lose: async (master) => {
      await master.kill("SIGKILL");
      await until("replica that takes over", async () => {
        const now = await mastersOf(nodes);
        return now.length === MASTERS && !now.some(({ id }) => id === master.id);
      });
    },
    moveSlots,
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
  try {
    for (let number = 0; number < MASTERS * 2; number++)
      nodes.push(await startNode(number, settings));
    await join(nodes);
    await cluster.ready();
  } catch (cause) {
    await cluster.close();
    throw cause;
  }
  return cluster;
}

async function startNode(
  number: number,
  settings: Readonly<Record<string, string>>,
): Promise<ClusterNode> {
  const server = await startOnFreePorts({
    "cluster-enabled": "yes",
    "cluster-node-timeout": String(NODE_TIMEOUT_MS),
    "cluster-replica-validity-factor": "0",
    "repl-diskless-sync-delay": "0",
    ...settings,
  });
  const id = String(await server.call("CLUSTER", "MYID"));
  return Object.assign(Object.create(server) as RedisServer, { number, id });
}

/** Another process may take a port between its finding and its use: a server that ends at once gets two others. */
async function startOnFreePorts(
  settings: Readonly<Record<string, string>>,
  attempts = 5,
): Promise<RedisServer> {
  const [port, bus] = [await freePort(), await freePort()];
  try {
    return await startRedis({ port, settings: { ...settings, "cluster-port": String(bus) } });
  } catch (cause) {
    if (attempts === 1) throw cause;
    return startOnFreePorts(settings, attempts - 1);
  }
}

async function join(nodes: readonly ClusterNode[]): Promise<void> {
  const [first] = nodes as [ClusterNode];
  const { bus } = { bus: await busOf(nodes) };
  for (const [at, node] of nodes.entries()) {
    if (at > 0) {
      const port = String(node.port);
      await first.call("CLUSTER", "MEET", "127.0.0.1", port, bus[at] as string);
    }
    if (at >= MASTERS) continue;
    const from = Math.ceil((SLOTS * at) / MASTERS);
    const to = Math.ceil((SLOTS * (at + 1)) / MASTERS) - 1;
    await node.call("CLUSTER", "ADDSLOTSRANGE", String(from), String(to));
  }
  for (const replica of nodes.slice(MASTERS)) {
    const master = nodes[replica.number - MASTERS] as ClusterNode;
    // It answers "unknown node" until the gossip has reached it.
    await until("a replica", async () => {
      const answer = await replica.call("CLUSTER", "REPLICATE", master.id).catch(() => undefined);
      return answer === "OK";
    });
  }
}

async function replicated(master: ClusterNode): Promise<number> {
  const atMs = Date.now();
  const offsetIn = async (pattern: RegExp): Promise<number> =>
    Number(pattern.exec(String(await master.call("INFO", "replication")))?.[1] ?? Number.NaN);
  const offset = await offsetIn(/^master_repl_offset:(\d+)/m);
  await until("a replica that has all", async () => {
    return (await offsetIn(/^slave0:.*,state=online,offset=(\d+),/m)) >= offset;
  });
  return atMs;
}

async function busOf(nodes: readonly ClusterNode[]): Promise<string[]> {
  const ports: string[] = [];
  for (const node of nodes) {
    const [, port] = (await node.call("CONFIG", "GET", "cluster-port")) as [string, string];
    ports.push(port);
  }
  return ports;
}

async function mastersOf(nodes: readonly ClusterNode[]): Promise<ClusterNode[]> {
  for (const node of nodes) {
    const shards = await node.call("CLUSTER", "NODES").catch(() => undefined);
    if (typeof shards !== "string") continue;
    const lines = shards.split("\n").map((line) => line.split(" "));
    const ids = lines.filter(([, , flags = ""]) => /master/.test(flags) && !/fail/.test(flags));
    return nodes.filter(({ id }) => ids.some((line) => line[0] === id && line.length > 8));
  }
  return [];
}

async function isWhole(nodes: readonly ClusterNode[]): Promise<boolean> {
  for (const node of nodes) {
    if (node.pid === 0) continue;
    const [info, state] = await Promise.all([
      node.call("CLUSTER", "INFO").catch(() => ""),
      node.call("INFO", "replication").catch(() => ""),
    ]);
    if (!String(info).includes("cluster_state:ok")) return false;
    const isMaster = String(state).includes("role:master");
    if (!isMaster && !String(state).includes("master_link_status:up")) return false;
  }
  return true;
}

const moveSlots: RedisCluster["moveSlots"] = async (from, to, slots, met) => {
  const place = ["127.0.0.1", String(to.port), "", "0", "10000", "KEYS"];
  for (const slot of slots.map(String)) {
    await to.call("CLUSTER", "SETSLOT", slot, "IMPORTING", from.id);
    await from.call("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id);
    const all = Number(await from.call("CLUSTER", "COUNTKEYSINSLOT", slot));
    const half = String(Math.ceil(all / 2));
    for (let isFirst = true; ; isFirst = false) {
      const keys = (await from.call("CLUSTER", "GETKEYSINSLOT", slot, half)) as string[];
      if (keys.length === 0) break;
      await from.call("MIGRATE", ...place, ...keys);
      if (isFirst) await met?.("TRYAGAIN");
    }
    await met?.("ASK");
    await to.call("CLUSTER", "SETSLOT", slot, "NODE", to.id);
    await from.call("CLUSTER", "SETSLOT", slot, "NODE", to.id);
    await met?.("MOVED");
  }
};

/** Waits for a condition; fails after a minute. */
async function until(what: string, isMet: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await isMet())) {
    if (Date.now() > deadline) throw new Error(`no ${what} within ${DEADLINE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
