/**
 * Lists of the caller's that change while a call reads them, or have holes: a function of the user's that a push asks may fill or empty the
 * very list that is pushed.
 */
import { expect, it, onTestFinished } from "vitest";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { openFrontier, openFrontierThread } from "../../src/index.ts";

const urls = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `http://h${at % 3}.org/${at}`);

it.each([
  ["emptied", (list: string[]) => void list.splice(0)],
  ["filled", (list: string[]) => void list.push(`http://more.org/${list.length}`)],
  ["overwritten", (list: string[]) => void list.fill(7 as never)],
])("a list that is %s by a hook is pushed as it was", async (_, change) => {
  for (const field of ["accept", "keyOf", "by"] as const) {
    const list = urls(3_000);
    let asked = 0;
    const ask = (): void => {
      if (++asked === 5 || asked === 2_000) change(list);
    };
    const accept = (): boolean => {
      ask();
      return true;
    };
    const keyOf = ({ url }: { url: string }): string => {
      ask();
      return url;
    };
    const by = (url: string): string => {
      ask();
      return new URL(url).host;
    };
    const frontier = await openFrontier({
      ...(field === "accept" ? { accept } : {}),
      ...(field === "keyOf" ? { defaults: { key: { keyOf } } } : {}),
      ...(field === "by" ? { defaults: { politeness: { delayMs: 1, by } } } : {}),
    });
    onTestFinished(() => frontier.close());
    expect(frontier.pushMany(list), field).toMatchObject({ size: 3_000, accepted: 3_000 });
    verifyFrontier(frontier);
    expect(frontier.report()).toMatchObject({ pending: 3_000, pushed: 3_000 });
  }
});

it("a list whose members change with each look is taken as it is at the first one", async () => {
  const frontier = await openFrontier();
  onTestFinished(() => frontier.close());
  const looks = new Map<string, number>();
  const list = new Proxy(urls(2_000), {
    get(target, name, receiver) {
      const seen = looks.get(String(name)) ?? 0;
      looks.set(String(name), seen + 1);
      if (typeof name === "string" && /^\d+$/.test(name) && seen > 0) return 5;
      return Reflect.get(target, name, receiver);
    },
  });
  expect(frontier.pushMany(list)).toMatchObject({ size: 2_000, accepted: 2_000 });
  verifyFrontier(frontier);
});

it("a hole among links is one that is no request", async () => {
  const holes = new Array<string>(3);
  holes[0] = "http://a.org/1";
  holes[2] = "http://a.org/2";
  const frontier = await openFrontier();
  onTestFinished(() => frontier.close());
  frontier.pushMany(["http://a.org/", "http://a.org/other"]);
  const done = frontier.poll()?.done({ found: holes });
  expect(done).toMatchObject({ size: 3, accepted: 2, rejected: 1 });
  expect(frontier.poll()?.done({ found: new Array<string>(4) })).toMatchObject({ rejected: 4 });
  const thread = await openFrontierThread();
  onTestFinished(() => thread.close());
  await thread.push("http://a.org/");
  const answer = await (await thread.poll())?.done({ found: holes });
  expect(answer).toMatchObject({ size: 3, accepted: 2, rejected: 1 });
});
