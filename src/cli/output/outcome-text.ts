/** Short names of outcomes for users; an unknown name stays as it is. */
import type { SickHost } from "../../crawl.ts";
import { momentText, whole } from "./number-text.ts";

const REFUSED: Readonly<Record<string, string>> = Object.freeze({
  "no-rule": "outside the scope",
  "out-of-scope": "outside the scope",
  "too-deep": "too deep",
  "invalid-url": "no URL",
  scheme: "not http or https",
  "too-long": "URL too long",
  "too-many": "too many on a page",
  budget: "host's budget used up",
  unserializable: "data that cannot be stored",
  hook: "refused by a hook",
  excluded: "left out by --include or --exclude",
  disk: "disk full",
});

const FAILED: Readonly<Record<string, string>> = Object.freeze({
  robots: "forbidden by robots.txt",
  "robots-unreachable": "robots.txt gave no answer",
  redirects: "too many redirects",
  "bad-location": "redirect to no URL",
  analyzer: "analyzer threw",
  pipeline: "pipeline threw",
  policy: "policy threw",
  sitemap: "unreadable sitemap",
  timeout: "timed out",
  reset: "connection broke off",
  connect: "no connection",
  proxy: "refused by the proxy",
  dns: "name server did not answer",
  "no-host": "name does not exist",
  tls: "TLS fault",
  "plain-http": "plain HTTP on an https port",
  address: "private address, refused without --allow-private",
  "too-large": "too large when inflated",
  encoding: "unknown or broken encoding",
  protocol: "not understood as HTTP",
  budget: "host's budget used up",
  "no-rule": "no rule takes it any more",
  attempts: "no attempt is left",
  expired: "not finished in time",
  deliveries: "handed out too often",
  "host-gave-up": "its host failed too often",
});

const STATUS: Readonly<Record<string, string>> = Object.freeze({
  200: "OK",
  204: "no content",
  301: "moved",
  302: "found",
  303: "see other",
  304: "not modified",
  307: "moved for now",
  308: "moved for good",
  400: "bad request",
  401: "unauthorized",
  403: "forbidden",
  404: "not found",
  410: "gone",
  429: "too many requests",
  500: "server error",
  502: "bad gateway",
  503: "unavailable",
  504: "gateway timeout",
});

/** Why a link was not admitted. */
export function refusedText(reason: string): string {
  return REFUSED[reason] ?? reason;
}

/** Where a crawl stays: `=host` is one host alone. */
export function scopeText(scope: readonly string[] | "any"): string {
  if (scope === "any") return "the whole web";
  return scope.map((each) => each.replace(/^=(.*)/, "$1 alone")).join(" ");
}

/** Why a request failed for good. */
export function failedText(reason: string): string {
  const status = /^status (\d+)$/.exec(reason)?.[1];
  return status === undefined ? (FAILED[reason] ?? reason) : statusText(status);
}

/** A status with its meaning: `404 not found`. */
export function statusText(status: string): string {
  const words = STATUS[status];
  return words === undefined ? status : `${status} ${words}`;
}

/** Counts by text; names with the same text are added up. */
export function outcomeText(
  counts: Record<string, number>,
  words: (name: string) => string,
): Array<[string, number]> {
  const sums = new Map<string, number>();
  for (const [name, count] of Object.entries(counts)) {
    sums.set(words(name), (sums.get(words(name)) ?? 0) + count);
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** A host that answers badly, and why: `b.example  8 of 9 failed, 2 slow, paused`. */
export function sickHostText({
  host,
  visits,
  failures,
  slow,
  empty,
  pausedUntil,
}: SickHost): string {
  const facts = [
    ...(failures > 0 ? [`${whole(failures)} of ${whole(visits)} failed`] : []),
    ...(slow > 0 ? [`${whole(slow)} slow`] : []),
    ...(empty > 0 ? [`${whole(empty)} empty`] : []),
    ...(pausedUntil === undefined ? [] : [`paused until ${momentText(pausedUntil)}`]),
  ];
  return `${host}  ${facts.join(", ")}`;
}
