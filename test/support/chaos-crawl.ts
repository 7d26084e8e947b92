/** Processes that crawl a synthetic web over one Redis together, each of which can be killed, stopped and replaced. */
import { type ChildProcess, fork } from "node:child_process";
import { get } from "node:http";
import { fileURLToPath } from "node:url";
import { openSyntheticWeb, type SyntheticWeb } from "../../src/testing.ts";
import { joinModules } from "../../tools/join-modules.mjs";
import type { Note } from "./chaos-judge.ts";

export const LEASE_MS = 1_200;
export const DELAY_MS = 20;
const PROCESSES = 6;
/** How far the clocks of two neighbours are apart. */
const SHIFT_MS = 5_000;
const SHAPE = { hosts: 40, pages: 500, mishaps: 0, traps: false } as const;

export interface ChaosCrawl {
  readonly web: SyntheticWeb;
  readonly notes: readonly Note[];
  /** What a process wrote to its standard error: nothing, if all is well. */
  readonly complaints: readonly string[];
  /** Milliseconds of the machine's clock at which the web's log begins. */
  readonly epochMs: number;
  /** Ends a process at once; another takes its place. */
  kill(at: number): void;
  /** Stops a process; resolves, and lets it go on, when its leases have ended. */
  stop(at: number): Promise<void>;
  /** Resolves at the next page that a server has acknowledged as done. */
  nextDone(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the processes; each has a client of its own by `target`. */
export async function startCrawl(
  seed: number,
  name: string,
  target: (at: number) => Readonly<Record<string, unknown>>,
): Promise<ChaosCrawl> {
  const web = await openSyntheticWeb({ ...SHAPE, seed });
  const epochMs = performance.timeOrigin;
  const notes: Note[] = [];
  const complaints: string[] = [];
  const waiters = new Set<() => void>();
  const children: ChildProcess[] = [];
  let started = 0;
  let isClosing = false;
  const program = fileURLToPath(new URL("../crash/redis-chaos-child.mjs", import.meta.url));
  const file = await joinModules(program, "redis-chaos-child");
  const start = (at: number): void => {
    const number = started++;
    const settings = {
      ...{ ...target(at), name, web: web.port, id: `p${number}`, leaseMs: LEASE_MS },
      ...{ seed: seed + number, shiftMs: ((at % 3) - 1) * SHIFT_MS },
    };
    const stdio = ["ignore", "inherit", "pipe", "ipc"] as const;
    const child = fork(file, [JSON.stringify(settings)], { stdio: [...stdio] });
    children[at] = child;
    child.stderr?.on("data", (data) => complaints.push(`p${number}: ${data}`));
    child.on("message", (message: Omit<Note, "atMs">) => {
      const { kind } = message;
      notes.push({ ...message, atMs: epochMs + performance.now() });
      child.send("noted", () => undefined); // it may be dead by now
      if (kind === "done") for (const waiter of waiters) waiter();
    });
    child.once("exit", () => {
      if (children[at] === child && !isClosing) start(at);
    });
  };
  for (let at = 0; at < PROCESSES; at++) start(at);
  return {
    ...{ web, notes, complaints, epochMs },
    kill: (at) => void children[at % PROCESSES]?.kill("SIGKILL"),
    stop: async (at) => {
      const child = children[at % PROCESSES];
      child?.kill("SIGSTOP");
      await after(LEASE_MS + 200);
      child?.kill("SIGCONT");
    },
    nextDone: () =>
      new Promise((resolve) => {
        const waiter = (): void => {
          waiters.delete(waiter);
          resolve();
        };
        waiters.add(waiter);
      }),
    close: async () => {
      isClosing = true;
      for (const child of children) {
        child.kill("SIGKILL");
        child.kill("SIGCONT");
      }
      await web.close();
    },
  };
}

/** Resolves when this time has passed: what it waits for is the time itself. */
export function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Every page that links lead to, with the pages that these are on, asked of another web of the same seed. */
export async function reachableFrom(seed: number): Promise<Map<string, string[]>> {
  await using web = await openSyntheticWeb({ ...SHAPE, seed, keepLog: false });
  const found = new Map<string, string[]>([[web.seed, []]]);
  const next = [web.seed];
  for (let url = next.pop(); url !== undefined; url = next.pop()) {
    for (const link of await linksOf(url, web.port)) {
      const pages = found.get(link);
      if (pages !== undefined) pages.push(url);
      else {
        found.set(link, [url]);
        next.push(link);
      }
    }
  }
  return found;
}

function linksOf(url: string, port: number): Promise<string[]> {
  const { host, pathname, search } = new URL(url);
  const asked = { port, host: "127.0.0.1", path: pathname + search, headers: { host } };
  return new Promise((resolve, reject) => {
    get(asked, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => {
        const { location } = response.headers;
        const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => link as string);
        const all = location === undefined ? links : [location];
        const urls = all
          .map((link) => new URL(link, url))
          .filter((one) => one.protocol === "http:");
        resolve(urls.map((one) => `http://${one.host}${one.pathname}${one.search}`));
      });
    }).on("error", reject);
  });
}
