/**
 * Key policies through a whole frontier against a set of identity bytes: what is new, what is a duplicate, what has no
 * identity, and which URL a lease carries; pushed one by one, in batches of strings and requests, and past a rule's match.
 */
import { describe, expect, it } from "vitest";
import { fingerprint } from "../../src/engine/api/url-functions.ts";
import type { Random } from "../../src/base/random.ts";
import { identityBytes, isExempt, keyOverride } from "../../src/url/keys/identity-bytes.ts";
import { keyOfHref, visitUrl } from "../../src/url/keys/dedup-key.ts";
import { parseUrl } from "../../src/url/parsing/canonical-parser.ts";
import {
  type IdentityRequest,
  type KeyPolicy,
  type NormalPolicy,
  normalizePolicy,
} from "../../src/url/keys/key-policy.ts";
import { openBench } from "../support/bench-frontier.ts";
import { anyKeyPolicy, anyRequest, oneOf } from "../support/key-policies.ts";
import { stressRounds, testRandom } from "../support/seed.ts";

interface Expected {
  readonly status: "accepted" | "duplicate" | "rejected";
  readonly url?: string;
  readonly fingerprint?: string;
}

/** What the contract says of one request, with `seen` as the memory of the ones before. */
function expectedOf(request: IdentityRequest, key: KeyPolicy, seen: Set<string>): Expected {
  const policy = normalizePolicy(key);
  const parsed = parseUrl(request.url, undefined, 8192);
  if (typeof parsed === "number") return { status: "rejected" };
  const own = keyOfHref(parsed, policy);
  if (own === undefined) return { status: "rejected" };
  const print = fingerprint(request, key);
  const url = visitsItsKey(policy) ? own : visitUrl(parsed, policy);
  if (isExempt(request.method, policy)) return { status: "accepted", url, fingerprint: print };
  const override = keyOverride(request, policy) as string | undefined; // these ones do not fail
  const bytes = identityBytes(override ?? own, request, policy);
  const identity = Buffer.from(bytes).toString("latin1");
  if (seen.has(identity)) return { status: "duplicate" };
  seen.add(identity);
  return { status: "accepted", url, fingerprint: print };
}

/** Keys of profile `url` are visited as the parser writes them: `visitUrl`. */
function visitsItsKey({ visit, profile }: NormalPolicy): boolean {
  return visit === "canonical" && profile !== "url";
}

/** Requests of which many have met before: plain strings, and objects. */
function program(random: Random): (string | IdentityRequest)[] {
  const requests: IdentityRequest[] = [];
  for (let i = 0; i < 60; i++) {
    const before = requests[random.below(requests.length + 1)];
    requests.push(
      before === undefined ? anyRequest(random) : { ...anyRequest(random), url: before.url },
    );
  }
  const isPlain = (one: IdentityRequest): boolean => Object.keys(one).length === 1;
  return requests.map((one) => (isPlain(one) && random.below(4) > 0 ? one.url : one));
}

/** A policy; now and then with a function that makes the key, of what every request shows. */
function anyPolicy(random: Random): KeyPolicy {
  const policy = anyKeyPolicy(random);
  if (random.below(6) === 0) {
    policy.keyOf = oneOf<NonNullable<KeyPolicy["keyOf"]>>(random, [
      ({ url }) => url.slice(0, 12),
      ({ url, method }) => `${url.length} ${method}`,
      () => "one",
    ]);
  }
  return policy;
}

describe("a frontier under any key policy", () => {
  it("tells new from seen as a set of identity bytes does, and leases the URL that the policy names", () => {
    const random = testRandom("key-policies frontier");
    for (let round = 0; round < stressRounds(30, 10); round++) {
      const key = anyPolicy(random);
      const requests = program(random);
      const seen = new Set<string>();
      const expected = requests.map((one) =>
        expectedOf(typeof one === "string" ? { url: one } : one, key, seen),
      );
      const one = openBench({ defaults: { key } });
      const many = openBench({ defaults: { key } });
      const matched = openBench({
        rules: [{ id: "all", match: { schemes: ["http", "https"] }, key }],
      });
      const singles = requests.map((request) => one.frontier.push(request).status);
      const result = many.frontier.pushMany(requests);
      const batch = requests.map((_, i) => result.verdict(i).status);
      const other = matched.frontier.pushMany(requests);
      const ruled = requests.map((_, i) => other.verdict(i).status);
      const statuses = expected.map(({ status }) => status);
      const about = JSON.stringify(key).slice(0, 500);
      expect(singles, about).toEqual(statuses);
      expect(batch, about).toEqual(statuses);
      expect(ruled, about).toEqual(statuses);
      const leased = expected.flatMap(({ url, fingerprint: print }) =>
        url === undefined ? [] : [{ url, print }],
      );
      for (const { frontier, check } of [one, many, matched]) {
        check();
        const leases = frontier.pollMany(1000);
        expect(
          leases.map(({ url, fingerprint: print }) => ({ url, print })),
          about,
        ).toEqual(leased);
        expect(frontier.report().seen, about).toBe(seen.size);
      }
    }
  });
});
