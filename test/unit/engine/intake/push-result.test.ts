import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { pushResult } from "../../../../src/engine/intake/push-result.ts";
import { VERDICTS, verdictOf } from "../../../../src/frontier/admission/verdicts.ts";
import { testSeed } from "../../../support/seed.ts";

describe("the counts of a push", () => {
  test("are those of its verdicts, wherever their bytes stand and however they are mixed", () => {
    const random = createRandom(testSeed("push-result"));
    for (let round = 0; round < 500; round++) {
      const start = random.below(9);
      const all = new Uint8Array(start + random.below(70));
      const sorts = [1, 3, VERDICTS.length][random.below(3)] as number;
      for (let at = 0; at < all.length; at++) {
        all[at] = random.below(8) === 0 ? random.below(VERDICTS.length) : random.below(sorts);
      }
      const codes = all.subarray(start);
      const wanted = { accepted: 0, deferred: 0, duplicate: 0, rejected: 0, full: 0, closed: 0 };
      for (const code of codes) wanted[verdictOf(code).status]++;
      const { closed: _, ...counted } = wanted;
      expect(pushResult(codes)).toMatchObject({ size: codes.length, ...counted });
    }
  });
});
