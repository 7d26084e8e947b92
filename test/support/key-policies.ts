/**
 * Random key policies, and URLs that feel them: names of parameters come from one small stock, so that lists and
 * URLs meet; and the same requests in forms that a policy may or may not distinguish.
 */
import type { Random } from "../../src/base/random.ts";
import type { IdentityRequest, KeyPolicy } from "../../src/url/keys/key-policy.ts";
import { fuzzUrl } from "./fuzz.ts";

/** Names as people write them, as serialisers write them, and some that are neither. */
const NAMES =
  "a b c id ID utm_source utm_x sid SID jsessionid a[] x.y ~ - %7e %61 %C3%BC %2b a%20b a+b"
    .split(" ")
    .concat(
      "\u00fc",
      "a b",
      "%",
      "*",
      "a*",
      "x=y",
      "k&v",
      "#",
      "'",
      '"',
      "\ud800",
      "\u{1f600}",
      "%2A",
    );
const PATTERNS = "* utm_* *id a*b* **sid** *%* %c3%bc* u*_*x A* *[] *a*a*a*a*b".split(" ");
const VALUES = [
  "",
  "1",
  "2",
  "10",
  "%7e",
  "%c3%bc",
  "a b",
  "a+b",
  "\u00fc",
  "=",
  "%3D",
  "%",
  "~!",
  "%26",
];
const METHODS = ["GET", "get", "POST", "post", "PUT", "HEAD", "X-own"];
const HEADERS = ["accept", "X-Part", "accept-language", "cookie"];

export function oneOf<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

function someOf<T>(random: Random, list: readonly T[], most: number): T[] {
  return Array.from({ length: random.below(most + 1) }, () => oneOf(random, list));
}

/** A valid policy: without the options that its profile refuses. */
export function anyKeyPolicy(random: Random): KeyPolicy {
  const policy: KeyPolicy = {};
  const profile = random.below(5);
  if (profile === 0) policy.profile = "url";
  if (profile === 1) policy.profile = "w3lib";
  if (profile === 2) policy.profile = "canonical";
  if (random.below(3) === 0) policy.fragment = oneOf(random, ["drop", "keep"]);
  if (random.below(3) === 0) policy.visit = oneOf(random, ["pushed", "canonical"]);
  if (random.below(4) === 0) policy.methods = oneOf(random, ["in-key", "ignore"]);
  if (random.below(4) === 0) policy.exemptMethods = someOf(random, METHODS, 2);
  if (random.below(4) === 0) policy.headers = someOf(random, HEADERS, 3);
  if (profile === 1) return policy;
  if (random.below(3) === 0) {
    policy.keepParams = random.below(4) === 0 ? "none" : manyNames(random, NAMES);
  }
  if (profile === 0) return policy;
  if (random.below(3) === 0) policy.userInfo = oneOf(random, ["keep", "drop"]);
  if (random.below(3) === 0) policy.sortQuery = random.below(2) === 0;
  if (random.below(2) === 0) policy.dropParams = manyNames(random, [...NAMES, ...PATTERNS]);
  return policy;
}

/** A few names; now and then as many as a policy may have, of which the last ones matter. */
function manyNames(random: Random, names: readonly string[]): string[] {
  const few = someOf(random, names, 6);
  if (random.below(40) > 0) return few;
  const idle = Array.from({ length: 1000 - few.length }, (_, i) => `idle-${i}-${"n".repeat(i)}`);
  return [...idle, ...few].map((name) => name.slice(0, 1000));
}

/** A URL of a few hosts with many of the stock's parameters, in query, path and fragment. */
export function paramUrl(random: Random): string {
  if (random.below(8) === 0) return fuzzUrl(random);
  const user = oneOf(random, ["", "", "", "u@", "u:%70@", "%zz@"]);
  const host = oneOf(random, ["h.test", "H.TEST:80", "h.test:8080", "b\u00fccher.test", "[::1]"]);
  let url = `${oneOf(random, ["http", "HTTP", "https"])}://${user}${host}`;
  for (let depth = random.below(4); depth > 0; depth--) {
    url += `/${oneOf(random, ["", "p", "P%41", ".", "..", "%2e", "\u00e9", "a%2fb", "%"])}`;
    for (let i = Math.max(0, random.below(5) - 2); i > 0; i--) url += `;${piece(random)}`;
  }
  if (random.below(5) > 0) url += `?${query(random)}`;
  if (random.below(4) === 0)
    url += `#${oneOf(random, ["", "f", "%7e%", "?a=1", ";sid=1", "\u00fc"])}`;
  return url;
}

/** Mostly short; now and then more parameters than the kernel sorts by itself. */
function query(random: Random): string {
  const count = random.below(30) === 0 ? random.below(200) : random.below(7);
  return Array.from({ length: count }, () => piece(random)).join("&");
}

function piece(random: Random): string {
  if (random.below(10) === 0) return "";
  const name = oneOf(random, NAMES);
  return random.below(6) === 0 ? name : `${name}=${oneOf(random, VALUES)}`;
}

/** Parts of a request beside its URL: often none. */
export function anyRequest(random: Random): IdentityRequest {
  const request: IdentityRequest = { url: paramUrl(random) };
  if (random.below(3) === 0) request.method = oneOf(random, METHODS);
  if (random.below(5) === 0)
    request.body = oneOf<string | Uint8Array>(random, ["", "b", Uint8Array.of(98)]);
  if (random.below(4) === 0) {
    const names = someOf(random, [...HEADERS, "ACCEPT", "x-part"], 2);
    request.headers = Object.fromEntries(names.map((name) => [name, oneOf(random, ["1", "2"])]));
  }
  if (random.below(12) === 0) request.key = oneOf(random, ["own", "http://h.test/", "\ud800"]);
  return request;
}
