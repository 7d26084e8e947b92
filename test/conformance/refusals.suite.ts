/** What an implementation does not support it refuses by name at opening: no option is ignored in silence. */
import { expect } from "vitest";
import type { FrontierOptions } from "../../src/index.ts";
import { suite } from "../support/conformance/suite.ts";
import type { Supports } from "../support/conformance/implementations.ts";
import { createVirtualClock } from "../../src/index.ts";

const polite = (politeness: object): FrontierOptions => ({ defaults: { politeness } });

/** Options that need something, with a word that the refusal must name. */
const NEEDS: ReadonlyArray<[keyof Supports, RegExp, () => FrontierOptions]> = [
  ["functions", /accept|function/, () => ({ accept: () => true })],
  ["idleHook", /onIdle|function/, () => ({ onIdle: () => true })],
  ["functions", /keyOf|function/, () => ({ defaults: { key: { keyOf: ({ url }) => url } } })],
  ["functions", /by|function/, () => polite({ by: () => "one" })],
  ["functions", /epoch|of|function/, () => ({ defaults: { epoch: { of: () => "now" } } })],
  ["functions", /keyOf|function/, () => ({ rules: [{ id: "r", key: { keyOf: () => "k" } }] })],
  ["groups", /groups/, () => polite({ groups: [{ by: "domain", limit: 1 }] })],
  ["groups", /groups/, () => polite({ groups: [{ by: "address", delayMs: 5 }] })],
  [
    "adaptiveEpochs",
    /adaptive/,
    () => ({ defaults: { epoch: { adaptive: { min: "1h", max: "1d" } } } }),
  ],
  ["fullRecords", /records|full/, () => ({ records: "full" })],
  ["breaker", /breaker/, () => ({ breaker: { failures: 3, withinMs: 100, pauseMs: 100 } })],
  ["ownClock", /clock|function/, () => ({ clock: createVirtualClock() })],
];

export const refusals = suite("what is not supported", (says) => {
  says("is refused by name, and what is supported is taken", async (open, { supports }) => {
    for (const [need, name, options] of NEEDS) {
      const opening = open(options());
      if (supports[need]) {
        expect((await opening).frontier.name, need).toBeTypeOf("string");
      } else {
        const refusal = await opening.then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(refusal, `${need}: opened`).toBeInstanceOf(Error);
        expect((refusal as { code?: string }).code, need).toMatch(
          /^(OPTION_INVALID|UNSUPPORTED|RULE_INVALID)$/,
        );
        expect((refusal as Error).message, need).toMatch(name);
      }
    }
  });

  says("a rule that needs it is refused by setRules too", async (open, { supports }) => {
    const { frontier } = await open({ rules: [{ id: "first" }] });
    const politeness = { groups: [{ by: "domain" as const, limit: 1 }] };
    const change = frontier.setRules([{ id: "second", politeness }]);
    if (supports.groups) await change;
    else await expect(change).rejects.toMatchObject({ code: /^(RULE_INVALID|UNSUPPORTED)$/ });
    const ids = (await frontier.rules())?.map(({ id }) => id);
    expect(ids).toEqual([supports.groups ? "second" : "first"]);
  });
});
