/** A URL that ends and whose record stays is as one that is put: where it was leased, and where it was pending. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { finishKept, finishPending } from "../../../../src/engine/api/keep-finished.ts";
import { verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import {
  createVirtualClock,
  type Frontier,
  type FrontierOptions,
  type Lease,
  openFrontier,
  type RequestInput,
} from "../../../../src/index.ts";

const NOW = 1e12;
const plain = { url: "http://a.test/1", epoch: "e", data: 7 };
const rich = {
  ...{ url: "http://a.test/2", epoch: "e", hostKey: "queue", depth: 2 },
  data: [1, new Uint8Array([2, 3]), null],
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outrider-kept-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

async function open(options: FrontierOptions = {}): Promise<Frontier> {
  const key = { profile: "url" } as const;
  const defaults = { key, politeness: { perHost: 9 }, ...options.defaults };
  const frontier = await openFrontier({ clock: createVirtualClock(NOW), ...options, defaults });
  onTestFinished(() => frontier.close());
  return frontier;
}

/** Two URLs, leased and ended in a way. */
async function ended(
  end: (frontier: Frontier, lease: Lease) => void,
  options?: FrontierOptions,
): Promise<Frontier> {
  const frontier = await open(options);
  frontier.pushMany([plain, rich]);
  for (const lease of frontier.pollMany(9)) end(frontier, lease);
  return frontier;
}

const kept = (_: Frontier, lease: Lease): void => expect(finishKept(lease)).toBe(true) as never;
const put = (frontier: Frontier, lease: Lease): void => {
  lease.done();
  frontier.put(lease.url === plain.url ? plain : rich);
};

/** What is seen of both URLs; what a hand-out counted stays, and a `put` begins anew. */
function seenOf(frontier: Frontier): unknown {
  verifyFrontier(frontier);
  const { pending, leased, done, failed } = frontier.report();
  const views = [plain, rich].map((each) => {
    const view = frontier.record(each);
    return view && { ...view, deliveries: 0 };
  });
  const listed = [...frontier.records({ state: "done" })].map(({ url }) => url).sort();
  const pushed = [plain, rich].map((each) => frontier.push(each).status);
  return { counts: [pending, leased, done, failed], views, listed, pushed };
}

/** What a frontier leaves comes back from its journal after a crash, and from a snapshot. */
async function expectBack(
  make: (options: FrontierOptions) => Promise<Frontier>,
  expected: unknown,
): Promise<void> {
  const [directory, copy] = [folder(), folder()];
  const frontier = await make({ directory });
  await frontier.flush();
  const filter = (path: string): boolean => !/[\\/]lock[^\\/]*$/.test(path);
  cpSync(directory, copy, { recursive: true, filter });
  expect(seenOf(await open({ directory: copy }))).toEqual(expected);
  await frontier.snapshot();
  await frontier.close();
  expect(seenOf(await open({ directory }))).toEqual(expected);
}

describe("finishKept", () => {
  it("leaves what `done` and `put` leave", async () => {
    const expected = seenOf(await ended(put));
    expect(expected).toMatchObject({ counts: [0, 0, 2, 0], pushed: ["duplicate", "duplicate"] });
    expect(seenOf(await ended(kept))).toEqual(expected);
  });

  it("is read from the journal after a crash, and from a snapshot", async () => {
    const expected = seenOf(await ended(put));
    await expectBack((options) => ended(kept, options), expected);
  });

  it("lets the URL be put, forgotten and pushed again", async () => {
    const frontier = await ended(kept);
    expect(frontier.forget({ epoch: "e" })).toBe(2);
    const [first, second] = [plain, rich].map((each) => frontier.push(each));
    expect([first?.admitted, second?.admitted]).toEqual([true, true]);
    for (const lease of frontier.pollMany(9)) kept(frontier, lease);
    expect(frontier.put(plain, { dueAt: NOW }).status).toBe("pending");
    expect([frontier.poll()?.url, frontier.poll()]).toEqual([plain.url, undefined]);
  });

  it("changes nothing where the lease is over", async () => {
    const clock = createVirtualClock(NOW);
    const frontier = await open({ clock, leaseMs: 1_000 });
    frontier.push(plain);
    const late = frontier.poll() as Lease;
    clock.advance(1_001);
    expect([finishKept(late), frontier.record(plain)?.state]).toEqual([false, "pending"]);
    const lease = frontier.poll() as Lease;
    expect([finishKept(lease), finishKept(lease)]).toEqual([true, false]);
    expect(finishKept({ ...lease } as Lease)).toBe(false);
  });

  it.each<FrontierOptions>([{ seen: { mode: "bloom" } }, { records: "full" }])(
    "changes nothing with %j",
    async (options) => {
      const frontier = await open(options.records ? { ...options, directory: folder() } : options);
      frontier.push(plain);
      expect([finishKept(frontier.poll() as Lease), frontier.report().leased]).toEqual([false, 1]);
    },
  );
});

/** Two URLs, pushed and put in a way, or as they are. */
async function putPending(
  end: (frontier: Frontier, request: RequestInput) => void,
  options?: FrontierOptions,
): Promise<Frontier> {
  const frontier = await open(options);
  frontier.pushMany([plain, rich]);
  for (const each of [plain, rich]) end(frontier, each);
  return frontier;
}

const sameAs = (request: RequestInput) => (data: unknown) => isDeepStrictEqual(data, request.data);
const finish = (frontier: Frontier, request: RequestInput): void =>
  expect(finishPending(frontier, request, sameAs(request))).toBe("now") as never;
const putAgain = (frontier: Frontier, request: RequestInput): void => {
  frontier.put(request);
};

describe("finishPending", () => {
  it("leaves what `put` leaves, in memory, in the journal and in a snapshot", async () => {
    const expected = seenOf(await putPending(putAgain));
    expect(expected).toMatchObject({ counts: [0, 0, 2, 0], pushed: ["duplicate", "duplicate"] });
    expect(seenOf(await putPending(finish))).toEqual(expected);
    await expectBack((options) => putPending(finish, options), expected);
  });

  it("changes nothing where the URL was finished so before, whatever comes after", async () => {
    const again = async (options?: FrontierOptions): Promise<Frontier> => {
      const frontier = await putPending(finish, options);
      const before = frontier.report();
      for (const each of [plain, rich]) {
        expect(finishPending(frontier, each, sameAs(each))).toBe("before");
        expect(finishPending(frontier, each, () => false)).toBeUndefined();
      }
      expect(frontier.report()).toMatchObject({ done: before.done, pushed: before.pushed });
      return frontier;
    };
    const expected = seenOf(await putPending(finish));
    expect(seenOf(await again())).toEqual(expected);
    await expectBack(again, expected);
  });

  it("changes nothing where the URL is unknown, not pending, or has other data", async () => {
    const frontier = await open();
    frontier.push(plain);
    const same = sameAs(plain);
    expect(finishPending(frontier, { ...plain, epoch: "other" }, same)).toBeUndefined();
    expect(finishPending(frontier, rich, () => true)).toBeUndefined();
    expect(finishPending(frontier, { url: "mailto:a" }, () => true)).toBeUndefined();
    expect(finishPending(frontier, plain, sameAs(rich))).toBeUndefined();
    expect(frontier.record(plain)?.state).toBe("pending");
    const lease = frontier.poll() as Lease;
    expect([finishPending(frontier, plain, same), lease.done().late]).toEqual([undefined, false]);
    expect(finishPending(frontier, plain, same)).toBeUndefined();
    const later = { ...rich, notBefore: NOW + 1_000 };
    frontier.push(later);
    expect(finishPending(frontier, later, sameAs(rich))).toBeUndefined();
    await frontier.close();
    expect(finishPending(frontier, later, sameAs(rich))).toBeUndefined();
  });

  it("takes a URL whose hand-out has run out at this very moment", async () => {
    const clock = createVirtualClock(NOW);
    const frontier = await open({ clock, leaseMs: 1_000 });
    frontier.push(plain);
    const late = frontier.poll() as Lease;
    clock.advance(1_000);
    finish(frontier, plain);
    expect([late.done().late, frontier.record(plain)?.state]).toEqual([true, "done"]);
  });

  it.each<FrontierOptions>([{ seen: { mode: "bloom" } }, { records: "full" }])(
    "changes nothing with %j",
    async (options) => {
      const frontier = await open(options.records ? { ...options, directory: folder() } : options);
      frontier.push(plain);
      expect(finishPending(frontier, plain, () => true)).toBeUndefined();
      expect(frontier.report().pending).toBe(1);
    },
  );
});
