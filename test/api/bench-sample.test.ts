import { describe, expect, it } from "vitest";
import { sampleSteps } from "../../bench/harness/sample.ts";

describe("samples of a micro case", () => {
  it("are of every step once, in order, each prepared before it is timed (I1)", () => {
    for (const count of [1, 2, 7, 100]) {
      const said: string[] = [];
      const { median, mean } = sampleSteps({
        ...{ name: "steps", count, size: 10, total: count * 10 },
        prepare: (step) => void said.push(`prepare ${step}`),
        work: (step) => void said.push(`work ${step}`),
      });
      const steps = Array.from({ length: count }, (_, step) => step);
      expect(said).toEqual(steps.flatMap((step) => [`prepare ${step}`, `work ${step}`]));
      for (const ns of [median, mean]) expect(Number.isFinite(ns) && ns >= 0).toBe(true);
    }
  });

  it("hide no fault of a step", () => {
    const work = (step: number): void => {
      if (step === 3) throw new Error("step 3 is wrong");
    };
    expect(() => sampleSteps({ name: "x", count: 5, size: 1, total: 5, work })).toThrow(
      "step 3 is wrong",
    );
  });
});
