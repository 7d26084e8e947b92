/** The memory that frontiers begin with, in a process of its own: with the asserts of hot loops on, all begin small. */
import { expect, it } from "vitest";
import { runNode } from "../../../support/package.ts";

const BUILT = new URL("../../../../build/plain/", import.meta.url);

/** Bytes that V8 counts for what a script opens, and what it prints besides. */
async function bytesOf(script: string): Promise<{ bytes: number; left: unknown }> {
  const program = `
    const built = (file) => import(new URL(file, ${JSON.stringify(BUILT)}).href);
    const { external } = process.memoryUsage();
    const left = await (async () => { ${script} })();
    const bytes = process.memoryUsage().external - external;
    console.log(JSON.stringify({ bytes, left }));
    process.exit();`;
  const env = { ...process.env, OUTRIDER_VERIFY: "0" };
  const { stdout, stderr } = await runNode(["--input-type=module", "--eval", program], { env });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

const SMALL = `
  const { openSmallFrontier } = await built("engine/api/open-frontier.js");
  const frontier = await openSmallFrontier({});`;

it.each([
  ["a small frontier", SMALL],
  [
    "a small frontier that was cleared",
    `${SMALL}
    frontier.clear();`,
  ],
  [
    "a queue of OutriderStorage",
    `const { OutriderStorage } = await built("crawlee.js");
    await new OutriderStorage({ base: { datasets() {} } }).requestQueues().getOrCreate("queue");`,
  ],
])("%s begins with less memory than V8 collects garbage for", async (_name, script) => {
  expect((await bytesOf(script)).bytes).toBeLessThan(32e6);
});

it("a small frontier grows with its requests", async () => {
  const { left } = await bytesOf(`${SMALL}
    const urls = Array.from({ length: 200_000 }, (_, at) => "http://a.test/" + at);
    frontier.pushMany(urls);
    let last;
    for (let each = 0; each < urls.length; each++) last = frontier.poll().url;
    return [last, frontier.report().leased];`);
  expect(left).toEqual(["http://a.test/199999", 200_000]);
});

it.each([
  ["any other frontier", `await (await built("index.js")).openFrontier();`],
  [
    "a request manager, of which a crawler has one,",
    `await (await built("crawlee.js")).FrontierRequestManager.open();`,
  ],
])("%s has its memory at once", async (_name, script) => {
  expect((await bytesOf(script)).bytes).toBeGreaterThan(4e9);
});
