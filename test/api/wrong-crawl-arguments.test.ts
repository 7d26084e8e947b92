/** What the functions of the crawler answer to a wrong argument: an error with its code, its name, its value and what is expected. */
import { describe, expect, it } from "vitest";
import {
  crawl,
  createDownloader,
  createItemFile,
  createRobotsGate,
  createWarcFile,
  extractPage,
  isPublicAddress,
  parseRobots,
} from "../../src/crawl.ts";

const page = { url: "http://a.test/", body: Buffer.from(""), contentType: "text/html" };
const frontier = { host: () => ({}) };
const parts = { frontier, userAgent: "mine/1.0" };

const OPTION: ReadonlyArray<[string, (wrong: never) => unknown, unknown, string]> = [
  ["createDownloader", createDownloader, null, "options: null (expected: an object)"],
  ["createDownloader", createDownloader, { totalMs: 0 }, "options.totalMs: 0"],
  ["createDownloader", createDownloader, { maxBytes: "1" }, 'options.maxBytes: "1"'],
  ["createDownloader", createDownloader, { proxy: "a" }, 'options.proxy: "a"'],
  ["createDownloader", createDownloader, { headers: { "a b": "" } }, 'options.headers: "a b"'],
  ["createDownloader", createDownloader, { totlaMs: 1 }, "did you mean 'totalMs'?"],
  ["createItemFile", createItemFile, undefined, "options: undefined (expected: an object)"],
  ["createItemFile", createItemFile, { path: "" }, 'options.path: "" (expected: a path)'],
  ["createItemFile", createItemFile, { path: "a", rotateBytes: 0 }, "options.rotateBytes: 0"],
  ["createRobotsGate", createRobotsGate, undefined, "options: undefined (expected: an object)"],
  ["createRobotsGate", createRobotsGate, { ...parts, frontier: {} }, "options.frontier: {}"],
  ["createRobotsGate", createRobotsGate, { ...parts, userAgent: " " }, 'options.userAgent: " "'],
  ["createRobotsGate", createRobotsGate, { ...parts, attempts: 0 }, "options.attempts: 0"],
  ["createRobotsGate", createRobotsGate, { ...parts, delayMS: 0 }, "did you mean 'delayMs'?"],
  ["createWarcFile", warc, null, "options: null (expected: an object)"],
  ["createWarcFile", warc, { level: 10 }, "options.level: 10"],
  ["createWarcFile", warc, { info: { a: "b\nc" } }, "options.info.a"],
  ["createWarcFile", warc, { rotatebytes: 1 }, "did you mean 'rotateBytes'?"],
];

const ARGUMENT: ReadonlyArray<[string, () => unknown, string]> = [
  ["isPublicAddress", () => isPublicAddress(5 as never), "address: 5 (expected: a string)"],
  ["parseRobots", () => parseRobots(null as never), "text: null (expected: a string or its bytes)"],
  ["isAllowed", () => parseRobots("").isAllowed(1 as never, "http://a.test/"), "userAgent: 1"],
  ["createWarcFile", () => createWarcFile(1 as never), "path: 1"],
];

describe("a wrong argument", () => {
  it.each(OPTION)("of %s is named: case %#", (_, call, wrong, message) => {
    const refused = expect.objectContaining({
      code: "OPTION_INVALID",
      message: expect.stringContaining(message) as string,
    }) as Error;
    expect(() => call(wrong as never)).toThrow(refused);
  });

  it.each(ARGUMENT)("of %s is named by its place", (_, call, message) => {
    const refused = expect.objectContaining({
      code: "ARGUMENT_INVALID",
      message: expect.stringContaining(message) as string,
    }) as Error;
    expect(call).toThrow(refused);
  });

  it.each([
    [undefined, "options: undefined (expected: an object)"],
    [{ ...page, body: "<a>" }, "options.body"],
    [{ ...page, maxLinks: -1 }, "options.maxLinks: -1"],
    [{ ...page, robotsTag: [1] }, "options.robotsTag"],
    [{ ...page, contenttype: "" }, "did you mean 'contentType'?"],
  ])("of extractPage rejects: case %#", async (wrong, message) => {
    await expect(extractPage(wrong as never)).rejects.toMatchObject({
      code: "ARGUMENT_INVALID",
      message: expect.stringContaining(message) as string,
    });
  });

  it("of on() names the events there are", async () => {
    const running = crawl({ seeds: "http://127.0.0.1:9/" }); // refused by the address guard
    const message = expect.stringContaining('"pgae" (expected: one of page, visit') as string;
    expect(() => running.on("pgae" as never, () => undefined)).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID", message }) as Error,
    );
    await running.finished;
  });
});

function warc(options: never): unknown {
  return createWarcFile("never-written.warc.gz", options);
}
