import { expect, it } from "vitest";
import { packedState } from "../../../../../src/integrations/redis/server/packing.ts";
import { packr } from "../../../../../src/persistence/msgpack.ts";

it("a state that msgpack cannot carry is refused by name, like one that is no object", () => {
  expect(packr.unpack(packedState({ cursor: [1, { two: 2 }] }))).toEqual({
    cursor: [1, { two: 2 }],
  });
  for (const state of [{ mark: Symbol("mark") }, 5, null, "text", [1]]) {
    expect(() => packedState(state)).toThrow(
      expect.objectContaining({
        code: "ARGUMENT_INVALID",
        message: expect.stringMatching("state"),
      }),
    );
  }
});
