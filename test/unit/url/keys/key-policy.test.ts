import { describe, expect, it } from "vitest";
import { FrontierError } from "../../../../src/base/errors.ts";
import { TR46_VERSION } from "../../../../src/url/parsing/idna-host.ts";
import { encodeParamName, normalizePercent } from "../../../../src/url/parsing/percent-encoding.ts";
import {
  asciiLowerCase,
  asciiUpperCase,
  type KeyPolicy,
  normalizePolicy,
  policyId,
  TRACKING_PARAMS,
} from "../../../../src/url/keys/key-policy.ts";

describe("normalizePolicy", () => {
  it("fills in every default", () => {
    expect(normalizePolicy()).toEqual({
      profile: "canonical",
      visit: "pushed",
      userInfo: "keep",
      fragment: "drop",
      sortQuery: true,
      keepParams: undefined,
      dropParams: [],
      methods: "in-key",
      exemptMethods: [],
      headers: [],
      keyOf: undefined,
    });
    expect(normalizePolicy({ profile: "url" }).fragment).toBe("keep");
    expect(normalizePolicy({ profile: "w3lib" }).fragment).toBe("drop");
    expect(Object.isFrozen(normalizePolicy())).toBe(true);
  });

  it("takes undefined for absent", () => {
    const fields = Object.keys(normalizePolicy()).map((field) => [field, undefined]);
    expect(normalizePolicy(Object.fromEntries(fields))).toEqual(normalizePolicy());
  });

  it("brings lists into the form in which they are compared", () => {
    const policy = normalizePolicy({
      keepParams: ["b", "%61", "\u00fc", "a b", "b", "x&y=z", "100%"],
      dropParams: ["UTM_*", "\u00dc", "%c3%bc*"],
      exemptMethods: ["post", "Put", "POST"],
      headers: ["X-B", "accept", "Accept"],
    });
    expect(policy.keepParams).toEqual(["b", "a", "%C3%BC", "a%20b", "x%26y%3Dz", "100%25"]);
    expect(policy.dropParams).toEqual(["utm_*", "%c3%9c", "%c3%bc*"]);
    expect(policy.exemptMethods).toEqual(["POST", "PUT"]);
    expect(policy.headers).toEqual(["accept", "x-b"]);
    expect(normalizePolicy({ keepParams: "none" }).keepParams).toEqual([]);
  });

  const WRONG: ReadonlyArray<readonly [policy: unknown, name: string]> = [
    [null, "key"],
    ["canonical", "key"],
    [[], "key"],
    [{ profil: "url" }, "key.profil"],
    [{ profile: "w3" }, "key.profile"],
    [{ profile: null }, "key.profile"],
    [{ profile: ["url"] }, "key.profile"],
    [{ visit: "raw" }, "key.visit"],
    [{ userInfo: true }, "key.userInfo"],
    [{ fragment: false }, "key.fragment"],
    [{ sortQuery: "yes" }, "key.sortQuery"],
    [{ sortQuery: null }, "key.sortQuery"],
    [{ keepParams: "a" }, "key.keepParams"],
    [{ keepParams: null }, "key.keepParams"],
    [{ keepParams: ["a", 1] }, "key.keepParams[1]"],
    [{ keepParams: [""] }, "key.keepParams[0]"],
    [{ dropParams: "none" }, "key.dropParams"],
    [{ dropParams: [null] }, "key.dropParams[0]"],
    [{ dropParams: ["a".repeat(1001)] }, "key.dropParams[0]"],
    [{ dropParams: new Array(1001).fill("a") }, "key.dropParams"],
    [{ dropParams: new Array(2) }, "key.dropParams[0]"],
    [{ methods: "both" }, "key.methods"],
    [{ exemptMethods: "POST" }, "key.exemptMethods"],
    [{ exemptMethods: ["PO ST"] }, "key.exemptMethods[0]"],
    [{ headers: ["a:b"] }, "key.headers[0]"],
    [{ headers: ["\u00e9"] }, "key.headers[0]"],
    [{ headers: {} }, "key.headers"],
    [{ keyOf: "url" }, "key.keyOf"],
    [{ profile: "url", userInfo: "drop" }, "key.userInfo"],
    [{ profile: "url", sortQuery: true }, "key.sortQuery"],
    [{ profile: "url", dropParams: ["a"] }, "key.dropParams"],
    [{ profile: "url", dropParams: ["a"] }, "key.dropParams"],
    [{ profile: "w3lib", userInfo: "drop" }, "key.userInfo"],
    [{ profile: "w3lib", sortQuery: false }, "key.sortQuery"],
    [{ profile: "w3lib", keepParams: "none" }, "key.keepParams"],
    [{ profile: "w3lib", dropParams: ["a"] }, "key.dropParams"],
  ];
  for (const [policy, name] of WRONG) {
    it(`refuses ${JSON.stringify(policy).slice(0, 60)} by the name ${name}`, () => {
      let thrown: unknown;
      try {
        normalizePolicy(policy as KeyPolicy);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(FrontierError);
      expect(thrown).toMatchObject({ code: "OPTION_INVALID", details: { name } });
      expect((thrown as Error).message).toMatch(/^key.*: .+ \(expected: .+\)$/);
    });
  }

  it("leads its messages with the name it was given", () => {
    expect(() => normalizePolicy({ visit: 1 } as never, "rules[3].key")).toThrow(
      'rules[3].key.visit: 1 (expected: "pushed" or "canonical")',
    );
  });

  it("takes no-ops with every profile", () => {
    const idle: KeyPolicy = { userInfo: "keep", dropParams: [], visit: "canonical" };
    expect(normalizePolicy({ ...idle, profile: "url", sortQuery: false }).profile).toBe("url");
    expect(normalizePolicy({ ...idle, profile: "w3lib", sortQuery: true }).profile).toBe("w3lib");
  });

  it("takes the list of trackers", () => {
    expect(normalizePolicy({ dropParams: [...TRACKING_PARAMS] }).dropParams).toEqual(
      TRACKING_PARAMS,
    );
    expect(TRACKING_PARAMS).toEqual(
      expect.arrayContaining(["utm_*", "gclid", "fbclid", "jsessionid", "phpsessid", "sid"]),
    );
  });
});

describe("policyId", () => {
  const id = (policy: KeyPolicy): string => policyId(normalizePolicy(policy));

  it("names profile, version, IDNA table and every option that shapes keys", () => {
    expect(id({})).toBe(
      `canonical/1+tr46-${TR46_VERSION};fragment=drop;userInfo=keep;sortQuery=true;` +
        "keepParams=all;dropParams=[];methods=in-key;headers=[];keyOf=none",
    );
    expect(id({ profile: "url" })).toBe(
      `url/1+tr46-${TR46_VERSION};fragment=keep;methods=ignore;headers=[];keyOf=none`,
    );
  });

  it("is equal for equal effect, and different for every other option", () => {
    expect(id({ dropParams: ["a", "B"] })).toBe(id({ dropParams: ["b", "A", "a"] }));
    expect(id({ headers: ["A", "b"] })).toBe(id({ headers: ["B", "a"] }));
    expect(id({ keepParams: "none" })).toBe(id({ keepParams: [] }));
    expect(id({ visit: "canonical", exemptMethods: ["POST"] })).toBe(id({}));
    const policies: KeyPolicy[] = [
      {},
      { profile: "url" },
      { profile: "url", fragment: "drop" },
      { profile: "w3lib" },
      { profile: "w3lib", fragment: "keep" },
      { userInfo: "drop" },
      { fragment: "keep" },
      { sortQuery: false },
      { keepParams: "none" },
      { keepParams: ["a", "b"] },
      { keepParams: ["b", "a"] },
      { keepParams: ["a,b"] },
      { dropParams: ["a"] },
      { methods: "ignore" },
      { headers: ["a"] },
      { keyOf: ({ url }) => url },
    ];
    expect(new Set(policies.map(id)).size).toBe(policies.length);
  });
});

describe("percent-encoding", () => {
  it("decodes unreserved bytes, raises other triples and escapes stray signs", () => {
    expect(normalizePercent("%41%7e%2D%5f%2e%30")).toBe("A~-_.0");
    expect(normalizePercent("%c3%a9%2f%00%7f")).toBe("%C3%A9%2F%00%7F");
    expect(normalizePercent("%")).toBe("%25");
    expect(normalizePercent("%4")).toBe("%254");
    expect(normalizePercent("%%41")).toBe("%25A");
    expect(normalizePercent("%g1%1g%\u00e9")).toBe("%25g1%251g%25\u00e9");
    expect(normalizePercent("%2541")).toBe("%2541");
  });

  it("gives a name the bytes of a serialised query", () => {
    expect(encodeParamName("a b#'\"<>&=+%7e%\u20ac\ud800\u007f")).toBe(
      "a%20b%23%27%22%3C%3E%26%3D+~%25%E2%82%AC%EF%BF%BD%7F",
    );
    expect(encodeParamName("\u{1f600}")).toBe("%F0%9F%98%80");
  });

  it("changes the case of ASCII letters only", () => {
    expect(asciiLowerCase("A\u00c9\u0130Z")).toBe("a\u00c9\u0130z");
    expect(asciiUpperCase("a\u00e9\u00dfz")).toBe("A\u00e9\u00dfZ");
  });
});
