/**
 * What may be said to a crawl, option by option: one check each, so that whatever is wrong is told by its name, its value and what is
 * expected before anything is opened. Rules, `defaults` and `frontierOptions` are looked into where a frontier is opened with them.
 */
import { FrontierError, misuse } from "../base/errors.ts";
import { hasFunction, isList, isMadeBy, isObject } from "../base/kinds.ts";

/** Throws OPTION_INVALID. */
type Check = (value: unknown, name: string) => void;

/** As many as a pool has seats for. */
const THREADS_MAX = 64;
const PORT_MAX = 65_535;
const NAME_LENGTH_MAX = 200;
/** Of a header: what stands in its value, and in its name (RFC 9110, 5.1 and 5.5). */
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const truth = check("true or false", (value) => typeof value === "boolean");
const amount = check("a number of at least 0", isAmount);
const path = check("a path", (value) => typeof value === "string" && value !== "");
const headerText = check(
  "a header's text",
  (value) => typeof value === "string" && HEADER_TEXT.test(value),
);

const CHECKS: Readonly<Record<string, Check>> = {
  seeds: checkSeeds,
  directory: path,
  name: check(
    `a text of 1 to ${NAME_LENGTH_MAX} characters`,
    (value) => typeof value === "string" && value.length >= 1 && value.length <= NAME_LENGTH_MAX,
  ),
  frontier: withMethods("a frontier", ["take", "pushMany", "report", "host"]),
  rules: check("a list of rules", isList),
  defaults: check("a rule's policy", isObject),
  frontierOptions: check("options of openFrontier()", isObject),
  threads: whole(0, THREADS_MAX),
  concurrency: whole(1),
  rampMs: whole(1),
  delayMs: amount,
  perHost: whole(1),
  maxDepth: whole(0),
  maxPages: whole(1),
  maxHostUrls: whole(1),
  maxHostBytes: whole(0),
  scope: check("'any' or a list of domains", isScope),
  allowPrivate: truth,
  userAgent: check(
    "a header's text",
    (value) => typeof value === "string" && HEADER_TEXT.test(value) && value.trim() !== "",
  ),
  contact: headerText,
  headers: checkHeaders,
  cookies: truth,
  // undici says no more of another one than that it is no URL.
  proxy: check(
    "an address such as http://127.0.0.1:3128",
    (value) =>
      typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  ),
  lookup: check("a function", (value) => typeof value === "function"),
  dial: fields({ address: check("an address", isText), port: whole(1, PORT_MAX) }, [
    "address",
    "port",
  ]),
  http2: truth,
  ca: check(
    "certificates as PEM",
    (value) => typeof value === "string" && /-----BEGIN [A-Z\d ]*CERTIFICATE-----/.test(value),
  ),
  robots: either(
    "boolean",
    fields({ expiryMs: amount, retryMs: amount, attempts: whole(1), maxCrawlDelayMs: amount }),
    "true, false or an object",
  ),
  sitemaps: truth,
  maxRedirects: whole(0),
  maxBytes: whole(1),
  maxLinks: whole(0),
  maxRetryAfterMs: amount,
  timeouts: fields({
    connectMs: whole(1),
    headersMs: whole(1),
    bodyMs: whole(1),
    totalMs: whole(1),
  }),
  types: check(
    "'any' or a list of content types",
    (value) =>
      value === "any" || (isList(value) && value.every((each) => typeof each === "string")),
  ),
  trapFilter: truth,
  items: either(
    "string",
    fields({ path, rotateBytes: whole(1) }, ["path"]),
    "a path or { path }",
    path,
  ),
  downloaders: modules("download"),
  analyzers: modules("analyze"),
  pipelines: modules("processors"),
  progressMs: amount,
  signal: withMethods("an AbortSignal", ["addEventListener"]),
  clock: withMethods("a clock", ["now", "monotonic", "schedule"]),
};

/** Looks at every option that is given; throws OPTION_INVALID. */
export function checkCrawlOptions(options: unknown): void {
  try {
    fields(CHECKS, [], "an option of crawl()")(options, "options");
  } catch (cause) {
    if (cause instanceof FrontierError) throw cause;
    throw new FrontierError("OPTION_INVALID", "options: unreadable (expected: plain data)", {
      cause,
    });
  }
}

function check(expected: string, isRight: (value: unknown) => boolean): Check {
  return (value, name) => {
    if (!isRight(value)) throw misuse("OPTION_INVALID", name, value, expected);
  };
}

function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): Check {
  const isOpen = most === Number.MAX_SAFE_INTEGER;
  const range = isOpen ? `of at least ${least}` : `from ${least} to ${most}`;
  const isRight = (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
  return check(`a whole number ${range}`, isRight);
}

/** An object of these fields and no other; those that are undefined are not there. */
function fields(
  checks: Readonly<Record<string, Check>>,
  needed: readonly string[] = [],
  what = `one of ${Object.keys(checks).join(", ")}`,
): Check {
  return (value, name) => {
    if (!isObject(value)) throw misuse("OPTION_INVALID", name, value, "an object");
    const given = value as Readonly<Record<string, unknown>>;
    for (const [field, inner] of Object.entries(given)) {
      const own = Object.hasOwn(checks, field) ? checks[field] : undefined;
      if (own === undefined) throw misuse("OPTION_INVALID", `${name}.${field}`, "unknown", what);
      if (inner !== undefined) own(inner, `${name}.${field}`);
    }
    for (const field of needed) {
      if (given[field] === undefined) checks[field]?.(undefined, `${name}.${field}`);
    }
  };
}

/** A plain value by one check, an object by another. */
function either(
  type: "boolean" | "string",
  inner: Check,
  expected: string,
  plain: Check = () => {},
): Check {
  return (value, name) => {
    if (typeof value === type) plain(value, name);
    else if (isObject(value)) inner(value, name);
    else throw misuse("OPTION_INVALID", name, value, expected);
  };
}

function withMethods(expected: string, methods: readonly string[]): Check {
  return check(expected, (value) => methods.every((method) => hasFunction(value, method)));
}

/** Objects of a kind are judged again where they are registered; here by what they must have. */
function modules(member: "download" | "analyze" | "processors"): Check {
  const isRight = (each: unknown): boolean => {
    if (typeof each === "string") return each !== "";
    if (isMadeBy(each, URL)) return true;
    if (member !== "processors") return hasFunction(each, member);
    return isObject(each) && isList((each as { processors?: unknown }).processors);
  };
  return (value, name) => {
    if (!isList(value)) throw misuse("OPTION_INVALID", name, value, "a list of modules");
    value.forEach((each, index) => {
      const expected = `a path, or an object with ${member}`;
      if (!isRight(each)) throw misuse("OPTION_INVALID", `${name}[${index}]`, each, expected);
    });
  };
}

/** A list's own requests are judged where they are pushed; that each is one is seen here, where no iterator is used up by it. */
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

function checkHeaders(value: unknown, name: string): void {
  if (!isObject(value)) throw misuse("OPTION_INVALID", name, value, "an object of texts");
  for (const [header, text] of Object.entries(value)) {
    if (!HEADER_NAME.test(header)) throw misuse("OPTION_INVALID", name, header, "a header's name");
    headerText(text, `${name}.${header}`);
  }
}

function isScope(value: unknown): boolean {
  if (value === "any") return true;
  if (!isList(value) || value.length === 0) return false;
  return value.every((each) => typeof each === "string" && bareDomain(each) !== "");
}

/** A domain without what stands for all below it. */
export function bareDomain(domain: string): string {
  return domain.toLowerCase().replace(/^\*?\./, "");
}

function isRequest(value: unknown): boolean {
  return isObject(value) && typeof (value as { url?: unknown }).url === "string";
}

function isAmount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
