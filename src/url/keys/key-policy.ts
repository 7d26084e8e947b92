/**
 * Key policy: when two URLs are the same. A user's KeyPolicy is checked field by field and becomes a frozen NormalPolicy with every default
 * filled in; the user's object is not read again.
 *
 *   field          default      profiles           in policyId
 *   profile        canonical    –                  yes
 *   userInfo       keep         canonical          yes
 *   fragment       drop         all (url: keep)    yes
 *   sortQuery      true         canonical          yes
 *   keepParams     all          canonical, url     yes
 *   dropParams     none         canonical          yes
 *   methods        in-key       all                yes
 *   headers        none         all                yes
 *   keyOf          none         all                only whether there is one
 *   exemptMethods  none         all                no: decides which requests have an identity at all
 *   visit          pushed       all                no: changes the lease, not the key
 *
 * I1  Policies with the same effect on keys have the same policyId.
 */
import { type FrontierErrorCode, misuse } from "../../base/errors.ts";
import { callable, type Field, kind, shape, textOf, TRUTH } from "../../base/fields.ts";
import { isList } from "../../base/type-guards.ts";
import { CANONICAL_VERSION } from "../parsing/canonical-parser.ts";
import { encodeParamName } from "../parsing/percent-encoding.ts";

/**
 * The parts of a request that form its identity.
 *
 * @example
 * // The article's number is its identity, whatever else is in the URL.
 * const keyOf = ({ url }) => /\/article\/(\d+)/.exec(url)?.[1] ?? url;
 * await openFrontier({ defaults: { key: { keyOf } } });
 */
export interface IdentityRequest {
  /** The URL. */
  url: string;
  /**
   * HTTP method.
   * @defaultValue "GET"
   */
  method?: string | undefined;
  /**
   * Body of the request.
   * @defaultValue none
   */
  body?: string | Uint8Array | undefined;
  /**
   * Headers of the request.
   * @defaultValue none
   */
  headers?: Record<string, string> | undefined;
  /**
   * The request's own key, in place of its URL.
   * @defaultValue none
   */
  key?: string | undefined;
}

/**
 * When two requests are the same. It affects only the identity, except for `visit`.
 * `docs/formats/canonical-url.md` specifies every step.
 *
 * @example
 * const frontier = await openFrontier({
 *   defaults: { key: { dropParams: [...TRACKING_PARAMS, "sort"], methods: "ignore" } },
 * });
 * frontier.push("https://example.org/?b=2&a=1&utm_source=x");
 * frontier.push("https://example.org/?a=1&b=2").status; // "duplicate"
 */
export interface KeyPolicy {
  /**
   * `"canonical"`: one form for equivalent URLs. `"url"`: the string as it is. `"w3lib"`: the key of Scrapy's w3lib.
   * @defaultValue "canonical"
   */
  profile?: "canonical" | "url" | "w3lib" | undefined;
  /**
   * Whether a lease carries the URL as it was pushed, or its canonical form.
   * @defaultValue "pushed"
   */
  visit?: "pushed" | "canonical" | undefined;
  /**
   * Whether user name and password are part of the identity.
   * @defaultValue "keep"
   */
  userInfo?: "keep" | "drop" | undefined;
  /**
   * Whether the fragment is part of the identity and of the visited URL.
   * @defaultValue "drop", with profile `url` "keep"
   */
  fragment?: "drop" | "keep" | undefined;
  /**
   * Whether parameters are sorted. Profile `url` has no such step.
   * @defaultValue true
   */
  sortQuery?: boolean | undefined;
  /**
   * The only parameters that are part of the identity; `"none"`: the query is not.
   * @defaultValue all
   */
  keepParams?: string[] | "none" | undefined;
  /**
   * Parameters that are not part of the identity; `*` stands for any characters. `TRACKING_PARAMS` is such a list.
   * @defaultValue none
   */
  dropParams?: string[] | undefined;
  /**
   * Whether method and body are part of the identity.
   * @defaultValue "in-key", with profile `url` "ignore"
   */
  methods?: "in-key" | "ignore" | undefined;
  /**
   * Methods that are never duplicates, such as `["POST"]`.
   * @defaultValue none
   */
  exemptMethods?: string[] | undefined;
  /**
   * Headers whose values are part of the identity.
   * @defaultValue none
   */
  headers?: string[] | undefined;
  /**
   * Computes the key. Runs on the owner's thread for every request. If it throws, the URL is rejected with reason `hook`.
   * @defaultValue none
   */
  keyOf?: ((request: IdentityRequest) => string) | undefined;
}

/** A key policy with every default filled in. */
export interface NormalPolicy {
  /** As `KeyPolicy.profile`. */
  readonly profile: "canonical" | "url" | "w3lib";
  /** As `KeyPolicy.visit`. */
  readonly visit: "pushed" | "canonical";
  /** As `KeyPolicy.userInfo`. */
  readonly userInfo: "keep" | "drop";
  /** As `KeyPolicy.fragment`. */
  readonly fragment: "drop" | "keep";
  /** As `KeyPolicy.sortQuery`. */
  readonly sortQuery: boolean;
  /** Names in their order, serialised. undefined: all parameters stay; empty: none does. */
  readonly keepParams: readonly string[] | undefined;
  /** Patterns in lower case, serialised. */
  readonly dropParams: readonly string[];
  /** As `KeyPolicy.methods`. */
  readonly methods: "in-key" | "ignore";
  /** Methods in upper case. */
  readonly exemptMethods: readonly string[];
  /** Names in lower case, sorted, each once. */
  readonly headers: readonly string[];
  /** As `KeyPolicy.keyOf`. */
  readonly keyOf: ((request: IdentityRequest) => string) | undefined;
}

/** Most entries in a list of a policy, and the longest entry. */
const POLICY_LIST_MAX = 1000;
const POLICY_NAME_MAX = 1000;

/** Parameters that track visitors or hold sessions, for `dropParams`. */
export const TRACKING_PARAMS: readonly string[] = Object.freeze([
  "utm_*",
  "gclid",
  "gclsrc",
  "dclid",
  "gbraid",
  "wbraid",
  "fbclid",
  "msclkid",
  "yclid",
  "ysclid",
  "twclid",
  "ttclid",
  "igshid",
  "mc_cid",
  "mc_eid",
  "_ga",
  "_gl",
  "_hsenc",
  "_hsmi",
  "mkt_tok",
  "jsessionid",
  "phpsessid",
  "aspsessionid*",
  "cfid",
  "cftoken",
  "sessionid",
  "session_id",
  "sid",
]);

/** A policy as the user passed it, except that "none" has become an empty list. */
type Shaping = Omit<KeyPolicy, "keepParams"> & { keepParams?: string[] };

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const readKeyPolicy = shape<Shaping>({
  profile: choice("canonical", "url", "w3lib"),
  visit: choice("pushed", "canonical"),
  userInfo: choice("keep", "drop"),
  fragment: choice("drop", "keep"),
  sortQuery: TRUTH,
  keepParams: (value, name, code) =>
    value === "none" ? [] : namesOf(value, name, code, 'a list of names or "none"'),
  dropParams: namesOf,
  methods: choice("in-key", "ignore"),
  exemptMethods: tokensOf,
  headers: tokensOf,
  keyOf: callable(),
});

/** Checks a policy and fills in defaults. Throws OPTION_INVALID; messages begin with `name`. */
export function normalizePolicy(policy: KeyPolicy = {}, name = "key"): NormalPolicy {
  const given = readKeyPolicy(policy, name, "OPTION_INVALID");
  const { profile = "canonical", keepParams, dropParams = [] } = given;
  const { exemptMethods = [], headers = [] } = given;
  const normal: NormalPolicy = {
    profile,
    visit: given.visit ?? "pushed",
    userInfo: given.userInfo ?? "keep",
    fragment: given.fragment ?? (profile === "url" ? "keep" : "drop"),
    sortQuery: given.sortQuery ?? true,
    keepParams: keepParams && [...new Set(keepParams.map(encodeParamName))],
    dropParams: dropParams.map((pattern) => asciiLowerCase(encodeParamName(pattern))),
    methods: given.methods ?? "in-key",
    exemptMethods: [...new Set(exemptMethods.map(asciiUpperCase))].sort(),
    headers: [...new Set(headers.map(asciiLowerCase))].sort(),
    keyOf: given.keyOf,
  };
  if (profile !== "canonical") refuseShaping(normal, given, name);
  return Object.freeze(normal);
}

/** A stable string of everything in a policy that affects keys; snapshots store it. */
export function policyId(policy: NormalPolicy): string {
  const { profile, userInfo, fragment, sortQuery, keepParams, dropParams } = policy;
  const isCanonical = profile === "canonical";
  const shape = isCanonical
    ? [`userInfo=${userInfo}`, `sortQuery=${sortQuery}`, `keepParams=${listText(keepParams)}`]
    : [];
  if (profile === "url" && keepParams !== undefined) {
    shape.push(`keepParams=${listText(keepParams)}`);
  }
  if (isCanonical) shape.push(`dropParams=${listText([...new Set(dropParams)].sort())}`);
  return [
    `${profile}/${CANONICAL_VERSION}`,
    `fragment=${fragment}`,
    ...shape,
    `methods=${profile === "url" ? "ignore" : policy.methods}`,
    `headers=${listText(policy.headers)}`,
    `keyOf=${policy.keyOf === undefined ? "none" : "given"}`,
  ].join(";");
}

/** Whether keys under a policy are made in JavaScript, because the kernel does not support it. */
export function isScriptKey({ profile, keepParams }: NormalPolicy): boolean {
  return profile === "w3lib" || (profile === "url" && keepParams !== undefined);
}

/** Changes only ASCII letters: what `toLowerCase` does to others depends on the platform's Unicode version. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Changes only ASCII letters. */
export function asciiUpperCase(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Refuses options that have no effect under the policy's profile: the user would not notice. */
function refuseShaping(normal: NormalPolicy, fields: Shaping, name: string): void {
  const expected = `no such option with profile ${JSON.stringify(normal.profile)}`;
  const refuse = (field: keyof KeyPolicy): never => {
    throw misuse("OPTION_INVALID", `${name}.${field}`, fields[field], expected);
  };
  if (normal.userInfo === "drop") refuse("userInfo");
  if (normal.profile === "w3lib" && normal.keepParams !== undefined) refuse("keepParams");
  if (normal.dropParams.length > 0) refuse("dropParams");
  if (normal.profile === "url" && fields.sortQuery === true) refuse("sortQuery");
  if (normal.profile === "w3lib" && !normal.sortQuery) refuse("sortQuery");
}

function listText(list: readonly string[] | undefined): string {
  return list === undefined ? "all" : JSON.stringify(list);
}

function choice<T extends string>(...values: readonly T[]): Field<T> {
  const expected = values.map((each) => JSON.stringify(each)).join(" or ");
  return kind(expected, (value) => (values as readonly unknown[]).includes(value));
}

const readName = textOf(1, POLICY_NAME_MAX);

function namesOf(
  value: unknown,
  name: string,
  code: FrontierErrorCode,
  expected = `a list of at most ${POLICY_LIST_MAX} names`,
): string[] {
  if (!isList(value) || value.length > POLICY_LIST_MAX) throw misuse(code, name, value, expected);
  return Array.from(value, (entry, index) => readName(entry, `${name}[${index}]`, code));
}

function tokensOf(value: unknown, name: string, code: FrontierErrorCode): string[] {
  const tokens = namesOf(value, name, code);
  const odd = tokens.findIndex((token) => !TOKEN.test(token));
  if (odd < 0) return tokens;
  throw misuse(code, `${name}[${odd}]`, tokens[odd], "an HTTP token");
}
