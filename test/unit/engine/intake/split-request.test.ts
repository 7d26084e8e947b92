import { describe, expect, it } from "vitest";
import { fingerprint } from "../../../../src/engine/api/url-functions.ts";
import { FrontierError } from "../../../../src/base/errors.ts";
import type { Lease, RequestInput } from "../../../../src/engine/types/frontier-types.ts";
import type { KeyPolicy } from "../../../../src/url/keys/key-policy.ts";
import { openBench, thrownBy } from "../../../support/bench-frontier.ts";

const URL_A = "http://a.com/";
const throwing = {
  get url(): string {
    throw new Error("gotcha");
  },
};

/** Field, a wrong value of it, and what the message must name. */
const wrong: Array<[field: string, value: unknown]> = [
  ...[undefined, null, 5, {}, []].map((value): [string, unknown] => ["url", value]),
  ...["", "A B", 5, null, "é"].map((value): [string, unknown] => ["method", value]),
  ...[5, null, {}, [1]].map((value): [string, unknown] => ["body", value]),
  ...[5, null, [], { "a b": "" }, { a: 1 }, { a: "x\ny" }, { a: "\ud800" }].map(
    (value): [string, unknown] => ["headers", value],
  ),
  ["headers", JSON.parse('{"__proto__":"x"}')],
  ...[1.5, "1", null, Number.NaN, 2 ** 53, 1n].map((value): [string, unknown] => [
    "priority",
    value,
  ]),
  ...[-1, 0.5, "0", null, Number.POSITIVE_INFINITY].map((value): [string, unknown] => [
    "depth",
    value,
  ]),
  ...["now", null, new Date(Number.NaN), Number.NaN, 1e300, {}].map((value): [string, unknown] => [
    "notBefore",
    value,
  ]),
  ...[5, null, {}].map((value): [string, unknown] => ["key", value]),
  ...["always", null, true].map((value): [string, unknown] => ["dedup", value]),
  ...["yes", null, 1].map((value): [string, unknown] => ["start", value]),
  ...[5, null, "\ud800"].map((value): [string, unknown] => ["handler", value]),
  ...[5, null, "", "\ud800", "x".repeat(4_097)].map((value): [string, unknown] => [
    "hostKey",
    value,
  ]),
  ...[0, -1, 1.5, "3", null].map((value): [string, unknown] => ["maxAttempts", value]),
  ...["yes", null].map((value): [string, unknown] => ["volatile", value]),
  ["prority", 5],
];

describe("a wrong request", () => {
  it.each(wrong)("with %s: %o is named, and nothing is changed", (field, value) => {
    const { frontier, check } = openBench();
    frontier.push("http://a.com/before");
    const before = JSON.stringify({ ...frontier.report(), memory: 0, rates: 0 });
    const request = { url: URL_A, [field]: value } as RequestInput;
    const calls = [
      () => frontier.push(request),
      () => frontier.pushMany(["http://a.com/good", request]),
      () => frontier.record(request),
      () => frontier.explain(request),
      () => frontier.update(request, { priority: 1 }),
      () => fingerprint(request),
    ];
    for (const call of calls) {
      const error = thrownBy(call) as FrontierError;
      expect(error).toBeInstanceOf(FrontierError);
      expect(error.code).toBe("REQUEST_INVALID");
      expect(error.message).toMatch(new RegExp(`${field}.*: .* \\(expected: .+\\)$`, "su"));
    }
    expect(JSON.stringify({ ...frontier.report(), memory: 0, rates: 0 })).toBe(before);
    check();
  });

  it("of any kind is misuse, never another error", () => {
    const { frontier, check } = openBench();
    const proxy = new Proxy({}, hostile());
    for (const one of [undefined, null, 5, Symbol("x"), [], () => 5, throwing, proxy]) {
      const request = one as RequestInput;
      const errors = [thrownBy(() => frontier.push(request))] as FrontierError[];
      errors.push(thrownBy(() => frontier.pushMany([request])) as FrontierError);
      expect(errors.map(({ code }) => code)).toEqual(["REQUEST_INVALID", "REQUEST_INVALID"]);
    }
    check();
  });

  it("is read once: what was checked is what is pushed", () => {
    const { frontier } = openBench();
    let reads = 0;
    const request = {
      get url() {
        return reads++ === 0 ? URL_A : (5 as unknown as string);
      },
    };
    expect(frontier.push(request).status).toBe("accepted");
    expect(reads).toBe(1);
  });

  it("in the defaults of a batch is named too", () => {
    const { frontier } = openBench();
    for (const defaults of [null, 5, { prority: 1 }, { depth: -1 }, { url: URL_A }]) {
      const call = (): unknown => frontier.pushMany([URL_A], defaults as Partial<RequestInput>);
      expect(call).toThrow(/^defaults/);
    }
    expect(frontier.report().pushed).toBe(0);
  });
});

describe("hostile strings and data", () => {
  it.each(["", " ", "\0", "\ud800", "http://", "http://\ud800/", "http://[::1", "javascript:1"])(
    "the URL %o gets a verdict",
    (url) => {
      const { frontier, check } = openBench();
      expect(frontier.push(url).status).toBe("rejected");
      expect(frontier.explain(url).verdict.status).toBe("rejected");
      expect(frontier.record(url)).toBeUndefined();
      expect(fingerprint(url)).toMatch(/^[0-9a-f]{32}$/);
      check();
    },
  );

  it("URLs of 64 KiB and more go in and out where maxUrlBytes lets them", () => {
    const { frontier, check } = openBench({ maxUrlBytes: 2 ** 20 });
    const urls = [64, 200, 900].map((size) => `http://a.com/${"x".repeat(size * 1_024)}`);
    expect(frontier.pushMany(urls).accepted).toBe(3);
    expect(frontier.pollMany(3).map(({ url }) => url)).toEqual(urls);
    check();
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  let shared: unknown = 1;
  for (let level = 0; level < 100; level++) shared = [shared, shared];
  const getter = {
    get bomb(): never {
      throw new Error("gotcha");
    },
  };
  const sparse = [1];
  sparse.length = 3;
  const bad = new Map<string, unknown>([
    ["a cycle", cyclic],
    ["a graph of 2^100 values", shared],
    ["a getter that throws", getter],
    ["a proxy", new Proxy({}, hostile())],
    ["holes", sparse],
    ["properties of an array", Object.assign([1], { x: 1 })],
    ["a symbol", { [Symbol("x")]: 1 }],
    ["__proto__", JSON.parse('{"__proto__":1}')],
    ["a lone surrogate", "\ud800"],
    ["a function", () => 1],
    ["a map", new Map()],
  ]);
  it.each([...bad.keys()])("data with %s are unserializable", (name) => {
    const data = bad.get(name);
    const { frontier, check } = openBench();
    const request = { url: URL_A, data };
    expect(frontier.push(request).reason).toBe("unserializable");
    expect(frontier.explain(request).verdict.reason).toBe("unserializable");
    expect(frontier.push({ ...request, volatile: true }).status).toBe("accepted");
    expect(frontier.poll()?.data === data).toBe(true);
    check();
  });

  it.each([
    null,
    0.1,
    "text",
    [1, [undefined, null]],
    { a: { b: [new Date(1.5)] } },
    new Uint8Array([1, 2]),
    new Set([1, "a"]),
    -0,
    { a: [-0, { b: new Set([[-0]]) }], c: 0 },
    new Float64Array([Math.PI, -0, Number.NaN]),
    { list: [new Int16Array([-1, 2]), new Uint8ClampedArray(3), new BigInt64Array([-5n])] },
    new Uint32Array([9, 8, 7]).subarray(1),
    new Uint8Array([1, 2, 3]).buffer,
    2n ** 63n - 1n,
    Array.from({ length: 50_000 }, (_, i) => i),
  ])("data %o come back equal", (data) => {
    const { frontier } = openBench();
    frontier.push({ url: URL_A, data });
    expect(frontier.poll()?.data).toEqual(data);
  });

  it("bodies of 1 MiB, headers and all come back equal", () => {
    const { frontier, check } = openBench();
    const body = new Uint8Array(2 ** 20).fill(7);
    const request = { url: URL_A, method: "POST", body, headers: { "X-A": "b" }, handler: "h" };
    frontier.push(request);
    const lease = frontier.poll() as Lease;
    expect(lease.method).toBe("POST");
    expect(Buffer.compare(lease.body as Uint8Array, body)).toBe(0);
    expect(lease.headers).toEqual({ "X-A": "b" });
    expect(lease.handler).toBe("h");
    expect(lease.fingerprint).toBe(fingerprint(request));
    lease.done();
    check();
  });
});

describe("lease.fingerprint", () => {
  const messy = "HTTP://User@A.com:80/%7Eb/../c?utm_x=1&b=2&a=1#frag";
  const policies: KeyPolicy[] = [
    {},
    { visit: "canonical" },
    { visit: "canonical", userInfo: "drop", dropParams: ["utm_*"] },
    { fragment: "keep" },
    { fragment: "keep", visit: "canonical" },
    { profile: "url" },
    { profile: "url", visit: "canonical" },
    { profile: "url", visit: "canonical", keepParams: ["b", "q"] },
    { profile: "w3lib" },
    { profile: "w3lib", visit: "canonical", fragment: "keep" },
    { keepParams: "none" },
    { methods: "ignore" },
    { headers: ["x-a"] },
    { keyOf: ({ url }) => `${url.length}` },
    { keyOf: (request) => String((request as RequestInput).data) },
  ];
  const requests: RequestInput[] = [
    { url: messy },
    { url: messy, method: "post", body: "x", headers: { "X-A": "1" } },
    { url: messy, key: "own", data: 5 },
    { url: "http://a.com/é?q=ü", data: "d" },
    { url: "http://b.com" },
  ];
  it.each(policies)("is that of the request under %o", (key) => {
    for (const request of requests) {
      const { frontier, check } = openBench({ defaults: { key } });
      expect(frontier.push(request).status).toBe("accepted");
      const { fingerprint: explained } = frontier.explain(request);
      const lease = frontier.poll() as Lease;
      expect(lease.fingerprint).toBe(fingerprint(request, key));
      expect(explained).toBe(lease.fingerprint);
      expect(lease.host).toBe(new URL(lease.url).host);
      expect(frontier.record(request)?.state).toBe("leased");
      lease.done({ found: [{ url: "http://a.com/child", dedup: "record" }] });
      expect(frontier.poll()?.parent).toBe(fingerprint(request, key));
      check();
    }
  });
});

describe("the URL of a lease", () => {
  const urls = (key: KeyPolicy, url: string): unknown => {
    const { frontier, check } = openBench({ defaults: { key } });
    frontier.push(url);
    const seen = frontier.peek(1)[0]?.url;
    const lease = frontier.poll() as Lease;
    expect(seen).toBe(lease.url);
    check();
    return lease.url;
  };
  it("is the pushed one, or the canonical one where the policy says so", () => {
    const url = "HTTP://A.com/x?b=2&a=1&utm_s=1#f";
    expect(urls({}, url)).toBe("http://a.com/x?b=2&a=1&utm_s=1");
    const canonical: KeyPolicy = { visit: "canonical", dropParams: ["utm_*"] };
    expect(urls(canonical, url)).toBe("http://a.com/x?a=1&b=2");
    expect(urls({ ...canonical, fragment: "keep" }, url)).toBe("http://a.com/x?a=1&b=2#f");
    expect(urls({ ...canonical, userInfo: "drop" }, "http://u:p@a.com/?b&a")).toBe(
      "http://a.com/?a&b",
    );
    expect(urls({ fragment: "keep" }, url)).toBe("http://a.com/x?b=2&a=1&utm_s=1#f");
  });

  it("of profile url is the canonical one where the policy says so: as the parser writes what the key keeps", () => {
    const url = "HTTP://A.com/x?b=2&a=1&utm_s=1#f";
    const keepParams = ["a", "b"];
    expect(urls({ profile: "url", keepParams }, url)).toBe("http://a.com/x?b=2&a=1&utm_s=1#f");
    const key: KeyPolicy = { profile: "url", visit: "canonical", keepParams };
    expect(urls(key, url)).toBe("http://a.com/x?a=1&b=2#f");
    expect(urls({ ...key, fragment: "drop" }, url)).toBe("http://a.com/x?a=1&b=2");
    expect(urls({ ...key, keepParams: ["b"] }, "http://a.com/x?b=2&a=1")).toBe(
      "http://a.com/x?b=2",
    );
    expect(urls(key, "http://u:p@b\u00fccher.test/\u00fc?x&b=\u00e9")).toBe(
      "http://u:p@xn--bcher-kva.test/%C3%BC?b=%C3%A9",
    );
  });
});

function hostile(): ProxyHandler<object> {
  return new Proxy(
    {},
    {
      get() {
        throw new Error("gotcha");
      },
    },
  );
}
