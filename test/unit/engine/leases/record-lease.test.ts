/** What a console shows of a lease, here, on another thread and in a worker; and the types of what leases carry. */
import { inspect } from "node:util";
import { expect, expectTypeOf, it } from "vitest";
import {
  type AsyncFrontier,
  createVirtualClock,
  type Frontier,
  openFrontier,
  openFrontierThread,
} from "../../../../src/index.ts";
import type { Handler } from "../../../../src/worker.ts";
import { withPool } from "../../../support/pool.ts";

const PAGE = "https://a.example/page";
const REQUEST = { url: PAGE, priority: 3, data: { from: "test" } };

/** The same wherever it is printed, but for the deadline. */
const shown = (text: string): string => text.replace(/deadlineMs: \d+/, "deadlineMs: 1");

const EXPECTED = `Lease {
  url: 'https://a.example/page',
  host: 'a.example',
  rule: 'default',
  priority: 3,
  depth: 0,
  attempt: 1,
  deliveries: 1,
  deadlineMs: 1,
  data: { from: 'test' }
}`;

it("a console shows the request of a lease and nothing of its inside", async () => {
  const frontier = await openFrontier({ clock: createVirtualClock(0) });
  frontier.push(REQUEST);
  const lease = frontier.poll();
  expect(shown(inspect(lease))).toBe(EXPECTED);
  expect(inspect({ deep: { deeper: { lease } } })).toContain("[Lease https://a.example/page]");
  lease?.done({ found: [{ url: "/next", method: "POST", handler: "form" }] });
  const next = inspect(frontier.poll());
  expect(next).toMatch(/method: 'POST'/);
  expect(next).toMatch(/handler: 'form'/);
  expect(next).toMatch(/parent: '[0-9a-f]{32}'/);
  expect(next).not.toMatch(/data|redirects|record|sequence|extras/);
  await frontier.close();
});

it("as JSON it is the same, for a log", async () => {
  const frontier = await openFrontier({ clock: createVirtualClock(0), leaseMs: 1 });
  frontier.push(REQUEST);
  const request = { url: PAGE, host: "a.example", rule: "default", priority: 3, depth: 0 };
  expect(JSON.parse(JSON.stringify(frontier.poll()))).toEqual({
    ...{ ...request, attempt: 1, deliveries: 1, deadlineMs: 1, data: { from: "test" } },
  });
  await frontier.close();
});

it("the same through a thread and in a worker", async () => {
  const frontier = await openFrontierThread();
  await frontier.push(REQUEST);
  const lease = await frontier.poll();
  expect(shown(inspect(lease))).toBe(EXPECTED);
  expect(JSON.parse(JSON.stringify(lease))).toEqual({
    ...{ url: PAGE, host: "a.example", rule: "default", priority: 3, depth: 0, attempt: 1 },
    ...{ deliveries: 1, deadlineMs: lease?.deadlineMs, data: { from: "test" } },
  });
  await frontier.close();
  const handler = new URL("../../../support/page-visit.mjs", import.meta.url);
  await withPool({ pool: { handler, threads: 1 } }, async (rig) => {
    const heard: unknown[] = [];
    rig.pool.on("message", ({ value }) => heard.push(shown(String(value))));
    rig.frontier.push({ ...REQUEST, handler: "shows" });
    await rig.pool.run();
    const lines = EXPECTED.split("\n");
    lines.splice(-2, 0, "  handler: 'shows',");
    expect(heard[0]).toBe(lines.join("\n"));
    expect(JSON.parse(String(heard[1]))).toEqual({
      ...{ url: PAGE, host: "a.example", rule: "default", priority: 3, depth: 0, attempt: 1 },
      ...{ deliveries: 1, deadlineMs: expect.any(Number), handler: "shows" },
      data: { from: "test" },
    });
  });
});

interface Note {
  readonly from: string;
}

it("a frontier's data has a type through push, lease, views, threads and workers", async () => {
  const frontier = await openFrontier<Note>();
  expectTypeOf(frontier).toEqualTypeOf<Frontier<Note>>();
  frontier.push({ url: PAGE, data: { from: "seed" } });
  frontier.push(PAGE, { data: { from: "seed" } });
  // @ts-expect-error: it is no Note.
  frontier.push({ url: PAGE, data: { form: "seed" } });
  // @ts-expect-error: it is no Note.
  frontier.pushMany([PAGE], { data: 7 });
  const lease = frontier.poll();
  if (lease === undefined) throw new Error("no lease");
  expectTypeOf(lease.data).toEqualTypeOf<Note>();
  lease.done({ found: [{ url: "/next", data: { from: lease.url } }] });
  // @ts-expect-error: it is no Note.
  lease.done({ found: [{ url: "/next", data: "text" }] });
  expectTypeOf(frontier.peek()[0]?.data).toEqualTypeOf<Note | undefined>();
  expectTypeOf(frontier.record(PAGE)?.data).toEqualTypeOf<Note | undefined>();
  frontier.on("done", ([view]) => expectTypeOf(view?.data).toEqualTypeOf<Note | undefined>());
  await frontier.close();

  const away: AsyncFrontier<Note> = await openFrontierThread<Note>();
  await away.push({ url: PAGE, data: { from: "seed" } });
  const taken = await away.poll();
  expectTypeOf(taken?.data).toEqualTypeOf<Note | undefined>();
  expect(taken?.data.from).toBe("seed");
  await away.close();

  const visit: Handler<Note> = ({ data }, context) => {
    expectTypeOf(data).toEqualTypeOf<Note>();
    context.push("/next", { data: { from: data.from } });
    // @ts-expect-error: it is no Note.
    context.push({ url: "/next", data: 1 });
  };
  expect(visit).toBeTypeOf("function");
  // Nobody who names no type is asked for one.
  const plain: Frontier = await openFrontier();
  expectTypeOf(plain.poll()?.data).toEqualTypeOf<unknown>();
  await plain.close();
});
