/**
 * One process of a crawl over Redis that is killed, stopped and cut off: takes leases, visits their pages on the synthetic web, ends them.
 *
 *   node redis-chaos-child.mjs <settings, JSON>       fork: notes go to the parent
 *
 * The User-Agent of a request names the process and the deadline of its lease, so that the web's log alone shows who held what. Notes:
 * "done" after a server has acknowledged it, "givenBack" before it releases a lease.
 */
import { get } from "node:http";

const settings = JSON.parse(process.argv[2]);
const { redis, cluster, client: given, name, web, id, shiftMs, leaseMs } = settings;
/** One forwarded parcel in so many finds its process dead. */
const DEATHS = 8;
let state = settings.seed >>> 0;
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state >>> 8) % below;
};
const realNow = Date.now;
Date.now = () => realNow() + shiftMs;

const { openRedisFrontier } = await import("../../build/plain/redis.js");
const { scriptOf } = await import("../../build/plain/integrations/redis/server/scripts.js");
const { Cluster, Redis } = await import("ioredis");

/** The frontier's client, over a cluster's nodes or one server. Now and then the process dies between a page's end and its links' arrival. */
function clientOf() {
  const client =
    cluster === undefined
      ? new Redis(redis, { maxRetriesPerRequest: 1, retryStrategy: () => 50 })
      : new Cluster(cluster, { slotsRefreshTimeout: 5_000, ...given });
  client.on("error", () => undefined);
  const { sha } = scriptOf("deliver");
  const call = client.callBuffer.bind(client);
  client.callBuffer = (name, ...args) => {
    if (args[0] === sha && random(DEATHS) === 0) process.kill(process.pid, "SIGKILL");
    return call(name, ...args);
  };
  return client;
}

const unanswered = [];
process.on("message", () => unanswered.shift()());

/** Resolves when the parent has noted it: what comes after it in this process comes after it in the web's log too. */
function note(message) {
  return new Promise((resolve) => {
    unanswered.push(resolve);
    process.send({ sentMs: realNow(), ...message });
  });
}

/** Makes a call until the server answers: links may be cut for longer than a call tries. */
async function untilAnswered(call) {
  for (;;) {
    try {
      return await call();
    } catch (cause) {
      if (!["SERVER_GONE", "MEMORY_FULL"].includes(cause.code)) throw cause;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

const options = { redis: clientOf(), name, leaseMs, keepOpen: true, giveUpMs: 20_000 };
const frontier = await untilAnswered(() => openRedisFrontier(options));

/** Links of a page, or where it redirects to. */
function fetchPage(url, agent) {
  const { host, pathname, search } = new URL(url);
  const asked = { port: web, host: "127.0.0.1", path: pathname + search };
  return new Promise((resolve, reject) => {
    const request = get({ ...asked, headers: { host, "user-agent": agent } }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const { location } = response.headers;
        const text = Buffer.concat(chunks).toString();
        const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
        const all = location === undefined ? links : [location];
        resolve(all.map((link) => new URL(link, url).href).filter((link) => /^http:/.test(link)));
      });
    });
    request.on("error", reject);
  });
}

async function visit(lease) {
  const kind = random(40);
  if (kind === 0) {
    await note({ kind: "givenBack", url: lease.url });
    return await untilAnswered(() => lease.release());
  }
  const found = await fetchPage(lease.url, `${id} ${Math.floor(lease.deadlineMs)}`);
  // Some pages take most of a lease, so that a process that was stopped finds its lease in other hands.
  if (/[27]$/.test(lease.url)) await new Promise((resolve) => setTimeout(resolve, leaseMs / 2));
  if (kind === 1) await untilAnswered(() => lease.extend(leaseMs));
  if (kind === 2) {
    await note({ kind: "givenBack", url: lease.url });
    return await untilAnswered(() => lease.retry({ delayMs: random(40) }));
  }
  const sentMs = realNow();
  let lastMs = sentMs;
  const { late } = await untilAnswered(() => {
    lastMs = realNow();
    return lease.done({ found });
  });
  const isAfterDeadline = lastMs >= lease.deadlineMs;
  if (!late) await note({ kind: "done", url: lease.url, isAfterDeadline, sentMs });
}

for (;;) {
  const leases = await untilAnswered(() => frontier.take({ max: 6, timeoutMs: 1_000 }));
  await Promise.all(leases.map(visit));
}
