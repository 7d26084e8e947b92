/**
 * The same random steps on our adapters and on Crawlee's own storage and queue, and every answer compared.
 *
 *   client    OutriderStorage's queue client        beside the memory storage's, in both of their protocols
 *   queue     Crawlee's RequestQueue over ours      beside the same class over the memory storage
 *   manager   FrontierRequestManager                beside that class over the memory storage
 *
 * Where Crawlee's answer is one of chance, a run makes no step that shows it: the order of `listHead` after locks, and of requests that
 * were reclaimed without `forefront`, which its memory storage leaves where they were and its platform moves to the end.
 */
import { expect, it, onTestFinished, vi } from "vitest";
import { FrontierRequestManager, OutriderStorage } from "../../src/crawlee.ts";
import { type Random, createRandom } from "../../src/base/random.ts";
import { requestId } from "../../src/integrations/crawlee/request-id.ts";
import { stressRounds, stressTimeoutMs, testSeed } from "../support/seed.ts";
import { loadCrawlee, memoryOnly, type Queue } from "./crawlee-module.ts";

const crawlee = await loadCrawlee();
const MEMORY = "@crawlee/memory-storage";
const { MemoryStorage } = (await import(/* @vite-ignore */ MEMORY)) as {
  MemoryStorage: new (options: object) => Storage;
};

type Fields = Record<string, unknown>;
interface Storage {
  requestQueues(): { getOrCreate(name: string): Promise<{ id: string }> };
  requestQueue(id: string): Client;
}
interface Client {
  get(): Promise<Fields>;
  addRequest(request: Fields, options?: object): Promise<Fields>;
  batchAddRequests(requests: Fields[], options?: object): Promise<{ processedRequests: Fields[] }>;
  getRequest(id: string): Promise<Fields | undefined>;
  updateRequest(request: Fields, options?: object): Promise<Fields>;
  listHead(options: object): Promise<{ items: Fields[] }>;
  listAndLockHead(options: object): Promise<{ items: Fields[] }>;
  prolongRequestLock(id: string, options: object): Promise<{ lockExpiresAt: Date }>;
  deleteRequestLock(id: string, options?: object): Promise<void>;
}

const memoryStorage = (): Storage => new MemoryStorage({ persistStorage: false });

function ourStorage(): OutriderStorage {
  const storage = new OutriderStorage({ base: memoryStorage() });
  onTestFinished(() => storage.close());
  return storage;
}

/** Two of a kind, ours first, and all steps so far. */
class Pair<T> {
  readonly #both: readonly [T, T];
  readonly #steps: string[] = [];

  constructor(ours: T, theirs: T) {
    this.#both = [ours, theirs];
  }

  /** Makes a step on both, compares what they answer, and returns it. */
  async step<R>(name: string, act: (one: T, index: 0 | 1) => Promise<R>): Promise<R | undefined> {
    this.#steps.push(name);
    const answers: Array<R | undefined | string> = [];
    for (const index of [0, 1] as const) {
      answers.push(await act(this.#both[index], index).catch(() => "an error"));
    }
    expect(answers[0], this.#steps.join("\n")).toEqual(answers[1]);
    return typeof answers[1] === "string" ? undefined : (answers[1] as R);
  }
}

/** What Crawlee keeps of a request, with what it leaves out of bare ones. */
function shown(request: Fields | null | undefined): Fields | undefined {
  if (request === undefined || request === null) return undefined;
  const { id, url, uniqueKey, method, payload, loadedUrl, userData, handledAt } = request;
  const { retryCount = 0, errorMessages = [], noRetry = false, headers = {} } = request;
  const internal = (userData as Fields | undefined)?.__crawlee;
  return {
    ...{ id, url, uniqueKey, method, payload, loadedUrl, internal, retryCount, errorMessages },
    ...{ noRetry, headers, userData: { ...(userData as object) } },
    isHandled: handledAt !== undefined && handledAt !== null,
    isRequest: request instanceof (crawlee.Request as unknown as new () => object),
  };
}

const LOCK_SECS = 10;
const bare = (n: number, more: Fields = {}): Fields => ({
  ...{
    url: `http://a.test/${n}`,
    uniqueKey: `${n}`,
    method: "GET",
    retryCount: 0,
    userData: { n },
  },
  ...more,
});

/** Locks of one run, as far as the test knows them. */
class Locks {
  readonly #until = new Map<string, number>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  has(key: string): boolean {
    return (this.#until.get(key) ?? 0) > Date.now();
  }

  /** Adds time to a lock, or begins one. */
  extend(key: string, secs: number): void {
    this.#until.set(key, (this.has(key) ? (this.#until.get(key) ?? 0) : Date.now()) + secs * 1_000);
  }

  end(key: string): void {
    this.#until.delete(key);
  }

  /** A request that is locked. */
  some(): string | undefined {
    const keys = [...this.#until.keys()].filter((key) => this.has(key));
    return keys[this.#random.below(keys.length)];
  }

  /** Any request, more often a locked one. */
  any(): string {
    const key = this.#random.below(4) > 0 ? this.some() : undefined;
    return key ?? `${this.#random.below(13)}`;
  }
}

type Step = (n: number, forefront: boolean) => Promise<unknown>;
const handledAt = (): string => new Date().toISOString();

function addAndLook(pair: Pair<Client>): Step[] {
  return [
    (n, forefront) =>
      pair.step(`add ${n} ${forefront}`, (one) => one.addRequest(bare(n), { forefront })),
    (n) =>
      pair.step(`add ${n} handled`, (one) => one.addRequest(bare(n, { handledAt: handledAt() }))),
    (n, forefront) =>
      pair.step(`add ${n} to ${n + 2} ${forefront}`, async (one) => {
        const requests = [n, n + 1, n + 2].map((each) => bare(each));
        return (await one.batchAddRequests(requests, { forefront })).processedRequests;
      }),
    () =>
      pair.step("head", async (one) =>
        (await one.listHead({ limit: 100 })).items.map(({ uniqueKey }) => String(uniqueKey)).sort(),
      ),
    () =>
      pair.step("counts", async (one) => {
        const { totalRequestCount, handledRequestCount, pendingRequestCount } = await one.get();
        return [totalRequestCount, handledRequestCount, pendingRequestCount];
      }),
    (n) => pair.step(`get ${n}`, async (one) => shown(await one.getRequest(requestId(`${n}`)))),
  ];
}

function lockAndEnd(pair: Pair<Client>, locks: Locks): Step[] {
  const update = (key: string, change: Fields, options: object) => async (one: Client) => {
    const stored = (await one.getRequest(requestId(key))) ?? bare(Number(key));
    return one.updateRequest({ ...stored, id: requestId(key), ...change }, options);
  };
  return [
    async () => {
      const keys = await pair.step("lock", async (one) =>
        (await one.listAndLockHead({ limit: 3, lockSecs: LOCK_SECS })).items.map(({ uniqueKey }) =>
          String(uniqueKey),
        ),
      );
      for (const key of keys ?? []) locks.extend(key, LOCK_SECS);
    },
    async () => {
      const key = locks.any();
      await pair.step(`handle ${key}`, update(key, { handledAt: handledAt() }, {}));
      locks.end(key);
    },
    async () => {
      const key = locks.any();
      const change = { errorMessages: ["no"], retryCount: 7 };
      await pair.step(`reclaim ${key}`, update(key, change, { forefront: true }));
      locks.end(key);
    },
    async (_n, forefront) => {
      const key = locks.some();
      if (key === undefined) return;
      await pair.step(`prolong ${key} ${forefront}`, (one) =>
        one.prolongRequestLock(requestId(key), { lockSecs: 5, forefront }),
      );
      locks.extend(key, 5);
    },
    async (_n, forefront) => {
      const key = locks.some();
      if (key === undefined) return;
      await pair.step(`unlock ${key} ${forefront}`, (one) =>
        one.deleteRequestLock(requestId(key), { forefront }),
      );
      locks.end(key);
    },
  ];
}

async function driveClients(random: Random): Promise<void> {
  vi.setSystemTime(1_700_000_000_000);
  const clients: Client[] = [];
  for (const storage of [ourStorage() as unknown as Storage, memoryStorage()]) {
    const { id } = await storage.requestQueues().getOrCreate("queue");
    clients.push(storage.requestQueue(id));
  }
  const pair = new Pair(clients[0] as Client, clients[1] as Client);
  const locks = new Locks(random);
  const pass: Step = async () => {
    if (random.below(4) === 0) vi.setSystemTime(Date.now() + LOCK_SECS * 1_100);
  };
  const steps = [...addAndLook(pair), ...lockAndEnd(pair, locks), pass];
  for (let step = 0; step < 30; step++) {
    vi.setSystemTime(Date.now() + 3);
    await steps[random.below(steps.length)]?.(random.below(12), random.below(3) === 0);
  }
}

/** What callers add to a URL. */
const MORE: ReadonlyArray<(n: number) => Fields> = [
  () => ({}),
  () => ({ userData: { a: [1, { b: null }], label: "L" } }),
  (n) => ({ method: "POST", payload: `p${n}`, useExtendedUniqueKey: true }),
  () => ({ headers: { A: "b" }, noRetry: true }),
  () => ({ skipNavigation: true, maxRetries: 3, crawlDepth: 2 }),
  (n) => ({ keepUrlFragment: true, url: `http://a.test/${n}#x` }),
  (n) => ({ url: `HTTP://A.test:80/${n}?b=2&a=1&utm_source=z` }),
  (n) => ({ uniqueKey: `custom${n}` }),
  (n) => ({ url: `http://a.test/ü${n}?q=ä b`, label: "X" }),
];

/** What a crawler does to a request before it reclaims it. */
function attemptFailed(request: Fields): void {
  const { userData, retryCount } = request as { userData: Fields; retryCount: number };
  request.retryCount = retryCount + 1;
  userData.more = 1;
  (request as unknown as { pushErrorMessage(text: string): void }).pushErrorMessage("no");
}

async function driveQueues(random: Random, ours: Queue, theirs: Queue): Promise<void> {
  const pair = new Pair(ours, theirs);
  const fetched: Array<[ours: Fields, theirs: Fields]> = [];
  const anyFetched = () => fetched.splice(random.below(fetched.length), 1)[0];
  /** Crawlee answers from its cache, which does not know what was handled since. */
  const added = ({ wasAlreadyHandled: _, ...rest }: Fields): Fields => rest;
  const steps: Step[] = [
    (n, forefront) => {
      const source = { url: `http://a.test/${n}`, ...MORE[random.below(MORE.length)]?.(n) };
      return pair.step(`add ${JSON.stringify(source)} ${forefront}`, async (one) =>
        added(await one.addRequest(source, { forefront })),
      );
    },
    (n, forefront) =>
      pair.step(`add ${n} to ${n + 2} ${forefront}`, async (one) => {
        const sources = [n, n + 1, n + 2].map((each) => ({ url: `http://a.test/${each}` }));
        const { processedRequests } = await one.addRequests(sources, { forefront });
        // Crawlee names those first that its cache knows.
        const all = processedRequests.map((each) => added(each as Fields));
        return all.sort((a, b) => (String(a.uniqueKey) < String(b.uniqueKey) ? -1 : 1));
      }),
    async () => {
      const both: Fields[] = [];
      await pair.step("fetch", async (one, index) => {
        const request = (await one.fetchNextRequest()) as Fields | null;
        if (request !== null) both[index] = request;
        return shown(request);
      });
      if (both.length === 2) fetched.push(both as [Fields, Fields]);
    },
    async () => {
      const both = anyFetched();
      if (both === undefined) return;
      await pair.step(`handle ${both[0].uniqueKey}`, (one, index) => {
        both[index].loadedUrl = "http://a.test/loaded";
        return one.markRequestHandled(both[index]);
      });
      await pair.step("get", async (one, index) =>
        shown((await one.getRequest(String(both[index].id))) as Fields | null),
      );
    },
    async () => {
      const both = anyFetched();
      if (both === undefined) return;
      for (const request of both) attemptFailed(request);
      await pair.step(`reclaim ${both[0].uniqueKey}`, (one, index) =>
        one.reclaimRequest(both[index], { forefront: true }),
      );
    },
    () => pair.step("stand", async (one) => [await one.isEmpty(), await one.isFinished()]),
    () =>
      pair.step("info", async (one) => {
        const { totalRequestCount, handledRequestCount, pendingRequestCount } =
          (await one.getInfo()) as Fields;
        return [
          totalRequestCount,
          handledRequestCount,
          pendingRequestCount,
          await one.handledCount(),
        ];
      }),
    (n, isHandled) =>
      pair.step("another's id", (one) => {
        const request = new crawlee.Request({ id: "another", url: `http://a.test/${n}` });
        return isHandled ? one.markRequestHandled(request) : one.reclaimRequest(request);
      }),
  ];
  for (let step = 0; step < 40; step++)
    await steps[random.below(steps.length)]?.(random.below(14), random.below(3) === 0);
}

const openQueue = (storageClient: object): Promise<Queue> =>
  crawlee.RequestQueue.open(null, {
    config: memoryOnly(crawlee, { storageClient }),
    storageClient,
  });

const RUNS: ReadonlyArray<[string, (random: Random) => Promise<void>]> = [
  ["OutriderStorage's queue client answers as the memory storage's", driveClients],
  [
    "RequestQueue answers on OutriderStorage as on the memory storage",
    async (random) =>
      driveQueues(random, await openQueue(ourStorage()), await openQueue(memoryStorage())),
  ],
  [
    "FrontierRequestManager answers as RequestQueue on the memory storage",
    async (random) => {
      const manager = await FrontierRequestManager.open({ keepHandled: true });
      onTestFinished(() => manager.close());
      const ours = manager.asRequestQueue<Queue>();
      await driveQueues(random, ours, await openQueue(memoryStorage()));
    },
  ],
];

it.each(RUNS)(
  "%s",
  async (name, run) => {
    const seed = testSeed(name);
    onTestFinished(() => {
      vi.useRealTimers();
    });
    if (run === driveClients) vi.useFakeTimers({ toFake: ["Date"] });
    for (let round = 0; round < stressRounds(60, 5); round++) await run(createRandom(seed + round));
  },
  stressTimeoutMs(600_000),
);
