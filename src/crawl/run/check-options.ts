/**
 * The options of a crawl: one check each, so that a wrong one is reported by its name, its value and what is expected before anything is
 * opened. The contents of rules, `defaults` and `frontierOptions` are checked where a frontier is opened with them.
 */
import { type FrontierErrorCode, misuse } from "../../base/errors.ts";
import {
  atLeast,
  callable,
  type Field,
  kind,
  readObject,
  shape,
  textOf,
  TRUTH,
  whole,
} from "../../base/fields.ts";
import { hasFunction, isList, isMadeBy, isObject } from "../../base/type-guards.ts";
import { ITEM_FILE } from "../files.ts";
import { headerText, SHARED_FIELDS, withMethods } from "../http/downloader-options.ts";

/** As many as a pool has seats for. */
const THREADS_MAX = 64;
const NAME_LENGTH_MAX = 200;

const amount = atLeast(0, "a number of at least 0");
const path = kind("a path", isText);
const domain = kind(
  "a domain such as 'example.com', a host with its port, or a URL for all that begins like it",
  (value) => isDomain(value) || isHostWithPort(value) || isFolderUrl(value),
);
const warcPath = kind("a path that ends in .warc.gz", isWarcPath);
const patterns = kind(
  "a list of globs, or expressions after 'regex:'",
  (value) => isList(value) && value.every(isText),
);

const FIELDS: { readonly [option: string]: Field<unknown> } = {
  seeds: checkSeeds,
  directory: path,
  name: textOf(1, NAME_LENGTH_MAX),
  frontier: withMethods("a frontier", ["take", "pushMany", "report", "host"]),
  open: callable(),
  rules: kind("a list of rules", isList),
  defaults: kind("a rule's policy", isObject),
  frontierOptions: kind("options of openFrontier()", isObject),
  threads: whole(0, THREADS_MAX),
  concurrency: whole(1),
  rampMs: whole(1),
  delayMs: amount,
  perHost: whole(1),
  maxDepth: whole(0),
  maxPages: whole(1),
  maxHostUrls: whole(1),
  maxHostBytes: whole(0),
  scope: scopeOf,
  include: patterns,
  exclude: patterns,
  maxTimeMs: whole(1),
  auth: shape(
    {
      username: kind<string>(
        "a name without a colon",
        (value) => isText(value) && !String(value).includes(":"),
      ),
      password: kind<string>("a text", (value) => typeof value === "string"),
    },
    { needed: ["username", "password"] },
  ),
  ...SHARED_FIELDS,
  contact: headerText,
  identity: path,
  cookies: TRUTH,
  robots: either(
    "boolean",
    shape({ expiryMs: amount, retryMs: amount, attempts: whole(1), maxCrawlDelayMs: amount }),
    "true, false or an object",
  ),
  sitemaps: TRUTH,
  sitemapOnly: TRUTH,
  log: path,
  saveBodies: path,
  maxRedirects: whole(0),
  maxLinks: whole(0),
  maxRetryAfterMs: amount,
  timeouts: shape({
    connectMs: whole(1),
    headersMs: whole(1),
    bodyMs: whole(1),
    totalMs: whole(1),
  }),
  types: kind(
    "'any' or a list of content types",
    (value) =>
      value === "any" || (isList(value) && value.every((each) => typeof each === "string")),
  ),
  policy: kind(
    "a function, or the path of a module that exports decide()",
    (value) => typeof value === "function" || isText(value) || isMadeBy(value, URL),
  ),
  trapFilter: TRUTH,
  traps: kind("true, false, or { exceptRules }", isTraps),
  maxPathUrls: kind("numbers of at least 0 by a prefix that begins with a slash", isPathUrls),
  maxQueryUrls: whole(0),
  pauseSickHosts: TRUTH,
  items: either("string", ITEM_FILE, "a path or { path }", path),
  warc: either(
    "string",
    shape({ path: warcPath, rotateBytes: whole(1) }, { needed: ["path"] }),
    "a path or { path }",
    warcPath,
  ),
  downloaders: modules("download"),
  analyzers: modules("analyze"),
  pipelines: modules("processors"),
  progressMs: amount,
  signal: withMethods("an AbortSignal", ["addEventListener"]),
};

const readOptions = shape(FIELDS, { what: "an option of crawl()" });

/** Checks every option that is given; throws OPTION_INVALID. */
export function checkCrawlOptions(options: unknown): void {
  readObject(readOptions, options, "options", "OPTION_INVALID");
}

/** A plain value by one check, an object by another. */
function either(
  type: "boolean" | "string",
  inner: Field<unknown>,
  expected: string,
  plain: Field<unknown> = TRUTH,
): Field<unknown> {
  return (value, name, code) => {
    if (typeof value === type) return plain(value, name, code);
    if (isObject(value)) return inner(value, name, code);
    throw misuse(code, name, value, expected);
  };
}

/** Checks what modules must have; they are checked again where they are registered. */
function modules(member: "download" | "analyze" | "processors"): Field<unknown> {
  const isRight = (each: unknown): boolean => {
    if (typeof each === "string") return each !== "";
    if (isMadeBy(each, URL)) return true;
    if (member !== "processors") return hasFunction(each, member);
    return isObject(each) && isList((each as { processors?: unknown }).processors);
  };
  const module = kind(`a path, or an object with ${member}`, isRight);
  return (value, name, code) => {
    if (!isList(value)) throw misuse(code, name, value, "a list of modules");
    return value.map((each, index) => module(each, `${name}[${index}]`, code));
  };
}

/** Checks that a list holds requests, without consuming an iterator. The requests themselves are checked where they are pushed. */
function checkSeeds(value: unknown, name: string): void {
  if (typeof value === "string") return;
  if (!hasFunction(value, Symbol.iterator)) {
    throw misuse("OPTION_INVALID", name, value, "a URL or a list of requests");
  }
  if (!isList(value)) return;
  value.forEach((each, index) => {
    if (typeof each === "string" || isRequest(each)) return;
    throw misuse("OPTION_INVALID", `${name}[${index}]`, each, "a URL or a request");
  });
}

const SCOPE_WORDS: readonly unknown[] = ["any", "same-domain", "same-host", "path-prefix"];

function scopeOf(value: unknown, name: string, code: FrontierErrorCode): unknown {
  if (SCOPE_WORDS.includes(value)) return value;
  if (isList(value) && value.length > 0) {
    const isFolder = (each: unknown): boolean => typeof each === "string" && each.includes("://");
    const other = value.findIndex((each) => isFolder(each) !== isFolder(value[0]));
    if (other > 0) {
      throw misuse(code, `${name}[${other}]`, value[other], "URLs alone, or domains alone");
    }
    return Array.from(value, (each, index) => domain(each, `${name}[${index}]`, code));
  }
  throw misuse(
    code,
    name,
    value,
    "a list of domains, 'any', 'same-domain', 'same-host' or 'path-prefix'",
  );
}

/** Checked here so that the message does not name the rule that a crawl makes of it. */
function isDomain(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const bare = bareDomain(value);
  return bare !== "" && !/[/?#@\\\s*]|:\d+$/.test(bare) && URL.canParse(`http://${bare}/`);
}

function isHostWithPort(value: unknown): boolean {
  if (typeof value !== "string" || !/^[^/?#@\\\s*]+:\d+$/.test(value)) return false;
  return URL.canParse(`http://${value}/`) && isDomain(value.replace(/:\d+$/, ""));
}

function isFolderUrl(value: unknown): boolean {
  if (typeof value !== "string" || !/^https?:\/\//i.test(value) || !URL.canParse(value))
    return false;
  const { search, hash, username } = new URL(value);
  return search + hash + username === "";
}

/** A domain without the prefix that means all below it. */
export function bareDomain(domain: string): string {
  return domain.toLowerCase().replace(/^\*?\./, "");
}

function isRequest(value: unknown): boolean {
  return isObject(value) && typeof (value as { url?: unknown }).url === "string";
}

function isWarcPath(value: unknown): boolean {
  return typeof value === "string" && /[^/]\.warc\.gz$/.test(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isTraps(value: unknown): boolean {
  if (typeof value === "boolean") return true;
  if (!isObject(value)) return false;
  const { exceptRules = [], ...rest } = value as { exceptRules?: unknown };
  return isList(exceptRules) && exceptRules.every(isText) && Object.keys(rest).length === 0;
}

function isPathUrls(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value as object).every(
    ([prefix, most]) => prefix.startsWith("/") && Number.isSafeInteger(most) && most >= 0,
  );
}
