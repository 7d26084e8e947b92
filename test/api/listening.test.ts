/** `on(event, listener, { signal, once })`: the same wherever there is an `on`. */
import { afterEach, describe, expect, it } from "vitest";
import { crawl } from "../../src/crawl.ts";
import { openFrontier, openFrontierThread } from "../../src/index.ts";

type Event = "accepted" | "status";
type On = (event: Event, listener: (payload: unknown) => void, options?: object) => () => void;

/** One surface with an `on`, and a way to have the event happen. */
interface Surface {
  readonly on: On;
  readonly event: Event;
  readonly happen: () => Promise<unknown>;
}

const closing: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

let count = 0;
const url = (): string => `http://a.test/${count++}`;

const SURFACES: Array<[string, () => Promise<Surface>]> = [
  [
    "a frontier",
    async () => {
      const frontier = await openFrontier();
      closing.push(() => frontier.close());
      const on = frontier.on.bind(frontier) as On;
      return { on, event: "accepted", happen: async () => frontier.push(url()) };
    },
  ],
  [
    "a frontier on a thread of its own",
    async () => {
      const frontier = await openFrontierThread();
      closing.push(() => frontier.close());
      const on = frontier.on.bind(frontier) as On;
      return { on, event: "accepted", happen: () => frontier.push(url()) };
    },
  ],
  [
    "a crawl",
    async () => {
      const frontier = await openFrontier({ keepOpen: true });
      frontier.push("http://127.0.0.1/");
      frontier.pause();
      const run = crawl({ frontier, seeds: [] });
      closing.push(async () => {
        await run.stop({ now: true });
        await frontier.close();
      });
      while (run.status !== "running") await new Promise(setImmediate);
      const happen = async (): Promise<void> => {
        if (run.status === "paused") run.resume();
        else run.pause();
      };
      return { on: run.on.bind(run) as On, event: "status", happen };
    },
  ],
];

describe.each(SURFACES)("%s", (_, open) => {
  it("removes a listener of one event before that is delivered", async () => {
    const { on, event, happen } = await open();
    let once = 0;
    let always = 0;
    on(event, () => once++, { once: true });
    on(event, () => always++);
    for (let each = 0; each < 3; each++) await happen();
    expect([once, always]).toEqual([1, 3]);
  });

  it("removes a listener when its signal aborts, and adds none where it has aborted", async () => {
    const { on, event, happen } = await open();
    const leaving = new AbortController();
    const told: string[] = [];
    on(event, () => told.push("signal"), { signal: leaving.signal });
    on(event, () => told.push("first and signal"), { signal: leaving.signal, once: true });
    await happen();
    await happen();
    leaving.abort();
    on(event, () => told.push("late"), { signal: leaving.signal });
    await happen();
    expect(told).toEqual(["signal", "first and signal", "signal"]);
  });

  it("delivers nothing more to a listener whose signal aborts amid a delivery", async () => {
    const { on, event, happen } = await open();
    const leaving = new AbortController();
    let late = 0;
    on(event, () => leaving.abort());
    on(event, () => late++, { signal: leaving.signal });
    await happen();
    expect(late).toBe(0);
  });

  it("returns a function that removes the listener with any options", async () => {
    const { on, event, happen } = await open();
    const { signal } = new AbortController();
    let told = 0;
    for (const options of [{}, { once: true }, { signal }]) on(event, () => told++, options)();
    await happen();
    expect(told).toBe(0);
  });

  it.each([
    [{ signal: 5 }, "signal: 5 (expected: an AbortSignal)"],
    [{ once: 1 }, "options.once: 1 (expected: true or false)"],
    [{ odd: 1 }, "options.odd: no such field (expected: one of signal, once)"],
    [5, "options: 5 (expected: an object)"],
  ])("refuses the options %j by name", async (options, message) => {
    const { on, event } = await open();
    const listen = (): unknown => on(event, () => undefined, options as object);
    expect(listen).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID", message }));
  });
});

describe("faults and a listener of one", () => {
  it("are kept for the next one", async () => {
    const frontier = await openFrontier();
    closing.push(() => frontier.close());
    const page = frontier.push("http://a.test/").admitted ? frontier.poll() : undefined;
    page?.done({ errors: ["first", "second"] });
    const told: unknown[] = [];
    for (let each = 0; each < 2; each++) {
      frontier.on("error", ({ cause }) => told.push(cause), { once: true });
      await new Promise(setImmediate);
    }
    expect(told).toEqual(["first", "second"]);
  });
});
