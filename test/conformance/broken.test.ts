/** Each broken copy must be caught by the random programs: a suite that lets one through judges nothing. */
import { describe, expect, it } from "vitest";
import { broken, FAULTS } from "../support/conformance/broken.ts";
import { memory } from "../support/conformance/implementations.ts";
import { testSeed } from "../support/seed.ts";
import { playPrograms } from "./random.suite.ts";

const PROGRAMS = 400;

describe("random programs", () => {
  it.each(Object.entries(FAULTS))("find that %s", async (fault, change) => {
    const seed = testSeed(`broken ${fault}`);
    const length = { programs: PROGRAMS, perSecond: 0, checkEvery: 1, seed };
    const copy = { ...broken(memory, change), isExact: false }; // so that the first failure ends it
    await expect(playPrograms({ skip: expect.fail }, copy, length)).rejects.toMatchObject({
      cause: { message: expect.stringContaining("differs") },
    });
  });
});
