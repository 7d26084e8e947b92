/** Values of which not even their kind can be asked, and iterables without an iterator, were answered by errors of the language. */
import { expect, it } from "vitest";
import { canonicalizeMany } from "../../src/engine/api/url-functions.ts";
import { FrontierError } from "../../src/base/errors.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import { openBench } from "../support/bench-frontier.ts";

function revoked<T extends object>(target: T): never {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy as never;
}

const VALUES: readonly [string, () => never][] = [
  ["a revoked object", () => revoked({})],
  ["a revoked list", () => revoked([])],
];
const NO_ITERATOR = { [Symbol.iterator]: () => ({}) } as never;

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

it.each(VALUES)(
  "%s is refused by name wherever it is given, and changes nothing",
  async (_, make) => {
    const { frontier, check } = openBench({});
    frontier.push("http://a.com/");
    const lease = frontier.poll();
    const standing = (): unknown => ({ ...frontier.report(), memory: undefined });
    const before = standing();
    const value = make();
    const calls: readonly (() => unknown)[] = [
      () => frontier.pushMany(value),
      () => frontier.pushMany([], value),
      () => frontier.pushFrom(value),
      () => frontier.pushFrom([], value),
      () => frontier.pushFrom([], { signal: value }),
      () => frontier.take(value),
      () => frontier.done(value),
      () => frontier.done([value]),
      () => [...frontier.records(value)],
      () => frontier.requeue(value),
      () => frontier.remove(value),
      () => frontier.setRules(value),
      () => frontier.setRules([value]),
      () => frontier.update("http://a.com/", value),
      () => frontier.forget(value),
      () => frontier.snapshot(value),
      () => frontier.host("a.com").blockUntil(value),
      () => lease?.done(value),
      () => lease?.done({ found: value }),
      () => lease?.done({ errors: value }),
      () => lease?.retry(value),
      () => lease?.fail(value),
      () => normalizeOptions(value),
      () => normalizeOptions({ rules: value }),
      () => normalizeOptions({ defaults: value }),
      () => normalizeOptions({ defaults: { politeness: value } }),
      () => normalizeOptions({ defaults: { politeness: { groups: value } } }),
      () => normalizeOptions({ defaults: { key: value } }),
      () => normalizeOptions({ defaults: { key: { keepParams: value } } }),
      () => normalizeOptions({ defaults: { epoch: value } }),
      () => canonicalizeMany(value),
    ];
    const wrong: string[] = [];
    for (const call of calls) {
      const error = await errorOf(call);
      if (!(error instanceof FrontierError)) wrong.push(`${call}: ${error}`);
    }
    expect(wrong).toEqual([]);
    expect(standing()).toEqual(before);
    check();
  },
);

it("an iterable without an iterator is refused by name", async () => {
  const { frontier, check } = openBench({});
  frontier.push("http://a.com/");
  const lease = frontier.poll();
  for (const call of [
    () => frontier.pushMany(NO_ITERATOR),
    () => frontier.pushFrom(NO_ITERATOR),
    () => lease?.done({ found: NO_ITERATOR }),
  ]) {
    expect(await errorOf(call)).toMatchObject({ code: "ARGUMENT_INVALID" });
  }
  check();
});
