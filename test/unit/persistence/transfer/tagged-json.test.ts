import { describe, expect, it } from "vitest";
import { packr } from "../../../../src/persistence/msgpack.ts";
import { jsonOfPacked, packedOfJson } from "../../../../src/persistence/transfer/tagged-json.ts";

const values: unknown[] = [
  new Uint8Array([1, 2]),
  Buffer.from("text"),
  new Float64Array([Math.PI, -0, Number.NaN]),
  { list: [new Int16Array([-1, 2]), new BigUint64Array([2n ** 64n - 1n])] },
  new Set([new Uint16Array(3).buffer]),
  new Uint32Array(70_000).fill(7), // as fields of an object it would exceed msgpackr's limit
  [undefined, null, 5n, Number.NaN, new Date(5), new Date(Number.NaN)],
  { $: "set", v: [1] },
];

describe("packed values as JSON", () => {
  it.each(values.map((value, at) => [at, value] as const))(
    "come back byte for byte, arrays of numbers too (%i)",
    (_, value) => {
      const bytes = Uint8Array.from(packr.pack(value));
      const text = JSON.stringify(jsonOfPacked(bytes));
      expect(Buffer.compare(packedOfJson(JSON.parse(text)), bytes)).toBe(0);
      expect(text.length).toBeLessThan(bytes.length * 1.4 + 200);
    },
  );
});
