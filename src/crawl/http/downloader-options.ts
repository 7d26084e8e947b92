/** Options of the built-in downloader: their types, and one check each, which the options of a crawl share. */
import type { Clock } from "../../base/clock.ts";
import { misuse } from "../../base/errors.ts";
import {
  ANYTHING,
  callable,
  type Field,
  type Fields,
  kind,
  readObject,
  shape,
  TRUTH,
  whole,
} from "../../base/fields.ts";
import { hasFunction, isObject } from "../../base/type-guards.ts";
import type { Identity } from "../identity/identity.ts";
import type { Lookup } from "./guarded-connector.ts";
import type { InflateRoom } from "./decoding/inflate-room.ts";

/**
 * Options of the built-in downloader. Times are in milliseconds.
 *
 * @example
 * createDownloader({
 *   userAgent: "mine/1.0 (+https://example.org/bot)",
 *   maxBytes: 2 * 1024 * 1024, // a longer page is cut there
 *   totalMs: 30_000,
 * });
 */
export interface DownloaderOptions {
  /**
   * Sent as User-Agent. Name yourself and an address where you can be reached.
   * @defaultValue "Outrider/0.1"
   */
  userAgent?: string | undefined;
  /**
   * Permits loopback, private and link-local addresses.
   * @defaultValue false
   */
  allowPrivate?: boolean | undefined;
  /**
   * Takes the place of the system's resolver.
   * @defaultValue the system's
   */
  lookup?: Lookup | undefined;
  /**
   * Dials this for every host, for a synthetic web or a gateway. The address guard checks it too.
   * @defaultValue none
   */
  dial?:
    | {
        /** IP address. */
        address: string;
        /** Port. */
        port: number;
      }
    | undefined;
  /**
   * An HTTP proxy for every request. The proxy resolves names, so the address guard checks only literal addresses
   * in URLs.
   * @defaultValue none
   */
  proxy?: string | undefined;
  /**
   * Sockets of one origin.
   * @defaultValue 1
   */
  connections?: number | undefined;
  /**
   * An idle socket is closed after so many milliseconds.
   * @defaultValue 5,000
   */
  keepAliveMs?: number | undefined;
  /**
   * Longest time to connect in milliseconds, TLS included.
   * @defaultValue 10,000
   */
  connectMs?: number | undefined;
  /**
   * Longest time to the first byte in milliseconds.
   * @defaultValue 20,000
   */
  headersMs?: number | undefined;
  /**
   * Longest time between two bytes of the body in milliseconds.
   * @defaultValue 20,000
   */
  bodyMs?: number | undefined;
  /**
   * Longest time of a download in milliseconds.
   * @defaultValue 60,000
   */
  totalMs?: number | undefined;
  /**
   * Longest body in bytes: one that is sent plain is cut there, one that inflates beyond it is refused as
   * `too-large`.
   * @defaultValue 10 MiB
   */
  maxBytes?: number | undefined;
  /**
   * Headers of every request.
   * @defaultValue none
   */
  headers?: Record<string, string> | undefined;
  /**
   * Signs every request (Web Bot Auth).
   * @defaultValue none
   */
  identity?: Identity | undefined;
  /**
   * Offers HTTP/2 where TLS is.
   * @defaultValue true
   */
  http2?: boolean | undefined;
  /**
   * Certificates to trust as PEM, in place of the system's.
   * @defaultValue the system's and NODE_EXTRA_CA_CERTS
   */
  ca?: string | undefined;
  /**
   * The source of time.
   * @defaultValue the machine's clock
   */
  clock?: Clock | undefined;
  /** @internal Shared with the visits, whose sitemaps are held for longer than they are inflated. */
  room?: InflateRoom | undefined;
}

const PORT_MAX = 65_535;
/** Characters of a header's value, and of its name (RFC 9110, 5.1 and 5.5). */
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The text of a header. */
export const headerText: Field<string> = kind(
  "a header's text",
  (value) => typeof value === "string" && HEADER_TEXT.test(value),
);

/** An object that has these methods. */
export function withMethods<T>(expected: string, methods: readonly string[]): Field<T> {
  return kind(expected, (value) => methods.every((method) => hasFunction(value, method)));
}

export const CLOCK: Field<Clock> = withMethods("a clock", ["now", "monotonic", "schedule"]);

/** Options that a crawl and its downloader share. */
export const SHARED_FIELDS: Fields<
  Pick<
    DownloaderOptions,
    | "userAgent"
    | "allowPrivate"
    | "lookup"
    | "dial"
    | "proxy"
    | "maxBytes"
    | "headers"
    | "http2"
    | "ca"
    | "clock"
  >
> = {
  userAgent: kind(
    "a header's text",
    (value) => typeof value === "string" && HEADER_TEXT.test(value) && value.trim() !== "",
  ),
  allowPrivate: TRUTH,
  lookup: callable(),
  dial: shape(
    {
      address: kind<string>("an address", (value) => value !== "" && typeof value === "string"),
      port: whole(1, PORT_MAX),
    },
    { needed: ["address", "port"] },
  ),
  // For another one, undici only reports that it is no URL.
  proxy: kind(
    "an address such as http://127.0.0.1:3128",
    (value) =>
      typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  ),
  maxBytes: whole(1),
  headers: headersOf,
  http2: TRUTH,
  ca: kind(
    "certificates as PEM",
    (value) => typeof value === "string" && /-----BEGIN [A-Z\d ]*CERTIFICATE-----/.test(value),
  ),
  clock: CLOCK,
};

const readFields = shape<DownloaderOptions>(
  {
    ...SHARED_FIELDS,
    connections: whole(1),
    keepAliveMs: whole(1),
    connectMs: whole(1),
    headersMs: whole(1),
    bodyMs: whole(1),
    totalMs: whole(1),
    identity: withMethods("an identity", ["sign"]),
    room: ANYTHING as Field<InflateRoom>,
  },
  { what: "an option of createDownloader()" },
);

/** Checks every option that is given, and returns a copy; throws OPTION_INVALID. */
export function readDownloaderOptions(given: unknown): DownloaderOptions {
  return readObject(readFields, given, "options", "OPTION_INVALID");
}

function headersOf(value: unknown, name: string): Record<string, string> {
  if (!isObject(value)) throw misuse("OPTION_INVALID", name, value, "an object of strings");
  for (const [header, text] of Object.entries(value)) {
    if (!HEADER_NAME.test(header)) throw misuse("OPTION_INVALID", name, header, "a header's name");
    headerText(text, `${name}.${header}`, "OPTION_INVALID");
  }
  return value as Record<string, string>;
}
