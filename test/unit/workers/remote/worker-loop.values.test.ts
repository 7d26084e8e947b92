/** Any value that a handler returns or throws: the lease ends by it, and the thread goes on. */
import { expect, it } from "vitest";
import { withPool } from "../../../support/pool.ts";

const handlerOf = (body: string): string =>
  `data:text/javascript,${encodeURIComponent(`export default function visit() { ${body} }`)}`;
const REVOKED = "const { proxy, revoke } = Proxy.revocable({}, {}); revoke();";

it.each([
  ["an object with a text named then", "return { then: 'text' }"],
  ["a thenable that resolves at once", "return { then: (resolve) => resolve() }"],
])("%s is a return", async (_, body) => {
  await withPool({ pool: { handler: handlerOf(body), threads: 1 } }, async (rig) => {
    rig.frontier.push("http://a.test/");
    await rig.pool.run();
    expect(rig.faults).toEqual([]);
    expect(rig.frontier.report()).toMatchObject({ done: 1, retried: 0 });
    expect(rig.pool.report()).toMatchObject({ completed: 1, restarts: 0 });
  });
});

it.each([
  ["a then that throws", "return { get then() { throw new Error('why') } }", "why"],
  ["a revoked proxy, returned", `${REVOKED} return proxy`, "revoked"],
  ["a revoked proxy, thrown", `${REVOKED} throw proxy`, "a object"],
  [
    "an error whose message throws",
    "throw Object.defineProperty(new Error(), 'message', { get() { throw 1 } })",
    "{}",
  ],
  ["a rejection with a revoked proxy", `${REVOKED} return Promise.reject(proxy)`, "a object"],
])("%s is a throw", async (_, body, message) => {
  const options = { pool: { handler: handlerOf(body), threads: 1 } };
  await withPool(options, async ({ frontier, pool, faults }) => {
    frontier.push("http://a.test/", { maxAttempts: 1 });
    await pool.run();
    expect(frontier.report()).toMatchObject({ failed: 1 });
    expect(pool.report()).toMatchObject({ completed: 0, restarts: 0 });
    expect(faults).toMatchObject([
      { kind: "handler", cause: { message: expect.stringContaining(message) } },
    ]);
  });
});
