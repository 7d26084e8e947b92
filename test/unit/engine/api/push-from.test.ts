import { describe, expect, it } from "vitest";
import { openBench, settled } from "../../../support/bench-frontier.ts";

const urls = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `http://a.com/${index}`);

interface OpenSource {
  put(url: string): void;
  source: AsyncGenerator<string>;
  isLeft(): boolean;
}

/** A source that gives what is put in, and never ends by itself. */
function openSource(): OpenSource {
  const waiting: Array<() => void> = [];
  const list: string[] = [];
  let isLeft = false;
  async function* read(): AsyncGenerator<string> {
    try {
      for (;;) {
        const next = list.shift();
        if (next !== undefined) yield next;
        else await new Promise<void>((resolve) => waiting.push(resolve));
      }
    } finally {
      isLeft = true;
    }
  }
  const put = (url: string): void => {
    list.push(url);
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { put, source: read(), isLeft: () => isLeft };
}

describe("pushFrom", () => {
  it("pushes all of a source, sync or async, and keeps its verdicts in order", async () => {
    const { frontier, check } = openBench();
    const list = [...urls(2_500), "x:y", "http://a.com/0"];
    const result = await frontier.pushFrom(list, { batch: 7 });
    expect([result.size, result.accepted, result.rejected, result.duplicate]).toEqual([
      2_502, 2_500, 1, 1,
    ]);
    expect(result.verdict(2_500).reason).toBe("scheme");
    check();
  });

  it("pushes what a source gave before it threw, and rejects with what it threw", async () => {
    for (const batch of [1, 2, 3, 1_000]) {
      const { frontier, check } = openBench();
      const source = async function* (): AsyncGenerator<string> {
        yield* urls(5);
        throw new RangeError("line 6");
      };
      await expect(frontier.pushFrom(source(), { batch })).rejects.toThrow("line 6");
      expect(frontier.report().pending).toBe(5);
      check();
    }
  });

  it("waits where the frontier is full, and counts nobody twice", async () => {
    const { frontier, check } = openBench({ capacity: 5 });
    const pushed = frontier.pushFrom(urls(100));
    let count = 0;
    for await (const lease of frontier) {
      count++;
      expect(frontier.report().pending).toBeLessThanOrEqual(5);
      lease.done();
    }
    const result = await pushed;
    expect([count, result.accepted, result.full]).toEqual([100, 100, 0]);
    expect(frontier.report().duplicate).toBe(0);
    check();
  });

  it("gives up on a signal, while full and while its source makes it wait", async () => {
    const { frontier } = openBench({ capacity: 1 });
    const abort = new AbortController();
    const { signal } = abort;
    const slow = openSource();
    const pushes = [
      frontier.pushFrom(urls(3), { signal }),
      frontier.pushFrom(slow.source, { signal }),
    ];
    await settled();
    abort.abort(new Error("enough"));
    for (const push of pushes) await expect(push).rejects.toThrow("enough");
    await expect(frontier.pushFrom(urls(3), { signal })).rejects.toThrow("enough");
    for (const lease of frontier.pollMany(9)) lease.done();
    expect(await frontier.take()).toEqual([]);
  });

  it("pushes what a slow source gave before it made us wait", async () => {
    const { frontier } = openBench();
    const slow = openSource();
    const pushed = frontier.pushFrom(slow.source);
    const taken = frontier.take();
    slow.put("http://a.com/1");
    expect((await taken).length).toBe(1);
    await frontier.close();
    slow.put("http://a.com/2");
    expect((await pushed).accepted).toBe(1);
    await settled();
    expect(slow.isLeft()).toBe(true);
  });

  it("keeps the frontier from its end while it runs", async () => {
    const { frontier } = openBench();
    const slow = openSource();
    const abort = new AbortController();
    const pushed = frontier.pushFrom(slow.source, { signal: abort.signal }).catch(() => "left");
    frontier.push("http://a.com/");
    frontier.poll()?.done();
    let isOver = false;
    const taken = frontier.take().then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    abort.abort();
    expect(await pushed).toBe("left");
    await taken;
  });

  it("passes on what its source throws, and names wrong arguments", async () => {
    const { frontier } = openBench();
    const broken = (function* (): Generator<string> {
      yield "http://a.com/";
      throw new Error("broken source");
    })();
    await expect(frontier.pushFrom(broken)).rejects.toThrow("broken source");
    for (const source of ["text", 5, null, {}]) {
      await expect(frontier.pushFrom(source as never)).rejects.toThrow(/^source/);
    }
    for (const batch of [0, 1.5, "5"]) {
      await expect(frontier.pushFrom([], { batch: batch as number })).rejects.toThrow(/^batch/);
    }
    await expect(frontier.pushFrom([], { signal: {} as AbortSignal })).rejects.toThrow(/^signal/);
    await expect(frontier.pushFrom([], { batsch: 5 } as never)).rejects.toThrow(/^options.batsch/);
    const { size } = await frontier.pushFrom(urls(3), { batch: Number.MAX_SAFE_INTEGER });
    expect(size).toBe(3);
  });
});
