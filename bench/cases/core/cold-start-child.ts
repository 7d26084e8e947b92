/** A process of cold-start.ts: imports nothing before its side does, answers what it took and what came out. */
const URL_TEXT = "https://example.org/";

const SIDES: Record<string, () => Promise<string>> = {
  empty: async () => "",
  outrider: async () => {
    const { openFrontier } = await import("../../../src/index.ts");
    const frontier = await openFrontier();
    frontier.push(URL_TEXT);
    return frontier.poll()?.url ?? "";
  },
  thread: async () => {
    const { openFrontierThread } = await import("../../../src/index.ts");
    const frontier = await openFrontierThread();
    await frontier.push(URL_TEXT);
    return (await frontier.poll())?.url ?? "";
  },
  pool: async () => {
    const { openFrontier } = await import("../../../src/index.ts");
    const { WorkerPool } = await import("../../../src/pool.ts");
    const frontier = await openFrontier();
    frontier.push(URL_TEXT);
    const handler = "data:text/javascript,export default () => {}";
    const pool = new WorkerPool({ frontier, handler, threads: 1 });
    await pool.run();
    return frontier.report().done === 1 ? URL_TEXT : "";
  },
  crawlee: async () => {
    const { openCrawleeQueue } = await import("../../peers/crawlee/queue.ts");
    const queue = await openCrawleeQueue();
    await queue.addRequests([{ url: URL_TEXT }]);
    return (await queue.fetchNextRequest())?.url ?? "";
  },
  bullmq: async () => {
    const { loadPackage } = await import("../../peers/installed.ts");
    loadPackage("ioredis");
    loadPackage("bullmq");
    return URL_TEXT;
  },
  undici: async () => {
    const { Agent } = await import("undici");
    return new Agent().closed ? "" : URL_TEXT;
  },
};

const side = process.argv[2] ?? "";
const answer = await SIDES[side]?.();
if (answer === undefined || (answer === "" && side !== "empty")) throw new Error(`${side}: no URL`);
const { user, system } = process.cpuUsage();
process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1e3, answer }), () =>
  process.exit(0),
);
