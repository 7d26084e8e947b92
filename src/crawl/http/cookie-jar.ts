/**
 * Cookies of one crawl (RFC 6265): kept in memory, sent where they belong, gone when it ends.
 *
 *   Set-Cookie ─▶ may this host set it? ─▶ shelf of its host, or of the domain that it names
 *   request ─▶ shelves of its host and of all above it ─▶ path, time, secure ─▶ longest path first ─▶ Cookie
 *
 *   I1  A cookie is sent only to the host that set it, or to a domain that contains this host and all hosts below it. A public suffix
 *       (`co.uk`) takes none.
 *   I2  Bounded: COOKIES_OF_SHELF_MAX on a shelf, COOKIE_BYTES_MAX in all; the cookie set first is dropped first.
 *
 * SameSite has no effect here: no request of a crawl is made by another site's page.
 */
import { isIP } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { readSetCookie, type SetCookie } from "./set-cookie.ts";

export type Cookies = ReturnType<typeof createCookies>;

interface CookieOptions {
  readonly clock: Clock;
  /** The registrable domain of a URL's host. */
  readonly domainOf: (url: string) => string | undefined;
  /** Default COOKIE_BYTES_MAX. */
  readonly bytesMax?: number;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly isHostOnly: boolean;
  readonly isSecure: boolean;
  readonly untilMs: number;
}

const COOKIES_OF_SHELF_MAX = 50;
const COOKIE_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes of a cookie besides its texts. */
const COOKIE_BYTES = 200;

export function createCookies({ clock, domainOf, bytesMax }: CookieOptions) {
  const shelves = new Map<string, Cookie[]>();
  const most = bytesMax ?? COOKIE_BYTES_MAX;
  let heldBytes = 0;
  const put = (domain: string, cookies: Cookie[]): void => {
    heldBytes -= bytesOf(shelves.get(domain) ?? []);
    shelves.delete(domain);
    if (cookies.length > 0) shelves.set(domain, cookies);
    heldBytes += bytesOf(cookies);
    while (heldBytes > most) {
      const [oldest, [first, ...others]] = shelves.entries().next().value as [string, Cookie[]];
      heldBytes -= bytesOf([first as Cookie]);
      if (others.length > 0) shelves.set(oldest, others);
      else shelves.delete(oldest);
    }
  };
  const learnOne = (url: URL, line: string): boolean => {
    const nowMs = clock.now();
    const parsed = readSetCookie(line, nowMs);
    const place = parsed && placeOf(parsed, url, domainOf);
    if (parsed === undefined || place === undefined) return false;
    const { domain, cookie } = place;
    const shelf = (shelves.get(domain) ?? []).filter(({ untilMs }) => untilMs > nowMs);
    const before = shelf.findIndex((one) => isSame(one, cookie));
    const old = shelf[before];
    if (cookie.untilMs <= nowMs) {
      put(domain, before < 0 ? shelf : shelf.toSpliced(before, 1));
      return old !== undefined;
    }
    const kept = before < 0 ? [...shelf, cookie] : shelf.with(before, cookie);
    put(domain, kept.slice(-COOKIES_OF_SHELF_MAX));
    return old?.value !== cookie.value;
  };
  return {
    /** The header of a request; undefined when there is no cookie for it. */
    headerFor(text: string): string | undefined {
      if (shelves.size === 0) return undefined;
      const url = new URL(text);
      const nowMs = clock.now();
      const found: Cookie[] = [];
      for (const domain of domainsAbove(url.hostname)) {
        for (const cookie of shelves.get(domain) ?? []) {
          const isOurs = domain === url.hostname || !cookie.isHostOnly;
          if (isOurs && cookie.untilMs > nowMs && goesTo(cookie, url)) found.push(cookie);
        }
      }
      if (found.length === 0) return undefined;
      found.sort((a, b) => b.path.length - a.path.length);
      const pairs = found.map(({ name, value }) => (name === "" ? value : `${name}=${value}`));
      // Headers are bytes: a letter beyond ASCII is sent in the bytes in which it came.
      return Buffer.from(pairs.join("; ")).toString("latin1");
    },
    /** Stores the cookies that an answer of a URL sets; returns whether any value has changed. */
    learn(text: string, lines: readonly string[]): boolean {
      const url = new URL(text);
      let isChanged = false;
      for (const line of lines) if (learnOne(url, line)) isChanged = true;
      return isChanged;
    },
  };
}

/** The place of a cookie; undefined when this host may not set it. */
function placeOf(
  { name, value, untilMs = Number.POSITIVE_INFINITY, domain, path, isSecure }: SetCookie,
  url: URL,
  domainOf: CookieOptions["domainOf"],
): { domain: string; cookie: Cookie } | undefined {
  const host = url.hostname;
  const isOverTls = url.protocol === "https:";
  const wanted = domain === undefined ? undefined : hostOf(domain);
  if (domain !== undefined && (wanted === undefined || !isUnder(host, wanted))) return undefined;
  if (isSecure && !isOverTls) return undefined;
  const registered = wanted === undefined ? undefined : domainOf(url.href);
  const isOwned =
    wanted !== undefined && registered !== undefined && isUnder(wanted, registered) && !isIp(host);
  // A public suffix may set a cookie for itself.
  if (wanted !== undefined && !isOwned && wanted !== host) return undefined;
  const cookie: Cookie = {
    name,
    value,
    path: path ?? folderOf(url.pathname),
    isHostOnly: !isOwned,
    isSecure,
    untilMs,
  };
  if (/^__secure-/i.test(name) && !isSecure) return undefined;
  const isBound = isSecure && domain === undefined && cookie.path === "/";
  if (/^__host-/i.test(name) && !isBound) return undefined;
  return { domain: isOwned ? (wanted as string) : host, cookie };
}

/** As in a URL; undefined when it is not a host name. */
function hostOf(domain: string): string | undefined {
  const text = `http://${domain}/`;
  if (/[/?#@:\\]/.test(domain) || !URL.canParse(text)) return undefined;
  return new URL(text).hostname;
}

function isIp(hostname: string): boolean {
  return hostname.startsWith("[") || isIP(hostname) !== 0;
}

function isUnder(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** A host and every name above it. */
function domainsAbove(hostname: string): string[] {
  const domains = [hostname];
  if (isIp(hostname)) return domains;
  for (let dot = hostname.indexOf("."); dot >= 0; dot = hostname.indexOf(".", dot + 1))
    domains.push(hostname.slice(dot + 1));
  return domains;
}

function goesTo({ path, isSecure }: Cookie, { pathname, protocol }: URL): boolean {
  if (isSecure && protocol !== "https:") return false;
  if (!pathname.startsWith(path)) return false;
  return path.endsWith("/") || pathname.length === path.length || pathname[path.length] === "/";
}

/** Up to the last slash, without it. */
function folderOf(pathname: string): string {
  return pathname.slice(0, Math.max(pathname.lastIndexOf("/"), 1));
}

function isSame(one: Cookie, other: Cookie): boolean {
  const { name, path, isHostOnly } = other;
  return one.name === name && one.path === path && one.isHostOnly === isHostOnly;
}

function bytesOf(cookies: readonly Cookie[]): number {
  let bytes = 0;
  for (const { name, value, path } of cookies)
    bytes += COOKIE_BYTES + 2 * (name.length + value.length + path.length);
  return bytes;
}
