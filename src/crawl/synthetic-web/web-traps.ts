/**
 * The host of traps: what a crawler meets on the real web and must survive. Every answer is computed.
 *
 *   /                        leads to all of the below
 *   /calendar/<y>/<m>        a next month for ever
 *   /session/<id>            the same page under a new id each time
 *   /deep/a/a/a/…            each page leads one folder deeper
 *   /loop/a ⇄ /loop/b        redirects in a circle; /self to itself
 *   /chain/<n>               redirects to n + 1 without an end
 *   /bomb/gzip, /bomb/br     64 MiB of zeros in a few kilobytes
 *   /huge                    10 MiB of text         /links    100,000 links on one page
 *   /hang                    a header and then nothing       /cut    ends before its Content-Length
 *   /wide                    a header line of 100 KiB
 *   /kinds                   mailto:, data:, javascript:, tel:, ftp:, image, PDF: nothing to visit
 *   s<n>.endless.test/        hosts of a domain of its own, without end: each page leads to four new ones
 *   /nofollow, /base, /canonical, /refresh, /charset, /idn: markup that affects links
 */
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

export interface TrapAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** Sends this and then nothing more; the connection stays open. */
  readonly hangs?: boolean;
  /** Declares more bytes than it sends, and closes. */
  readonly isCut?: boolean;
}

const MEBIBYTE = 1024 * 1024;
const BOMB_MEBIBYTES = 64;
const HUGE_BYTES = 10 * MEBIBYTE;
const LINK_COUNT = 100_000;

/** Links of the root. */
const TRAP_PATHS: readonly string[] = Object.freeze([
  "/calendar/2026/11",
  "/session/1",
  "/deep/a/",
  "/loop/a",
  "/self",
  "/chain/0",
  "/bomb/gzip",
  "/bomb/br",
  "/huge",
  "/links",
  "/hang",
  "/cut",
  "/wide",
  "/kinds",
  "/nofollow",
  "/base",
  "/canonical",
  "/refresh",
  "/charset",
  "/idn",
]);

/** The domain of the subdomain trap. Nothing of the web leads there: a crawl that is to meet it names it among its seeds. */
const ENDLESS = /^s(0|[1-9][0-9]{0,14})\.endless\.test$/;
const ENDLESS_FANOUT = 4;

/** The answer of a host of the subdomain trap; undefined for any other host. */
export function endlessAnswer(
  name: string,
  path: string,
  authority: (host: string) => string,
): TrapAnswer | undefined {
  const match = ENDLESS.exec(name);
  if (match === null) return undefined;
  if (path !== "/") return { status: 404, body: "not here\n" };
  const first = Number(match[1]) * ENDLESS_FANOUT;
  const hosts = Array.from(
    { length: ENDLESS_FANOUT },
    (_, at) => `s${first + at + 1}.endless.test`,
  );
  return html(hosts.map((host) => link(`//${authority(host)}/`)).join(""));
}

/** The answer for a path of the host of traps; undefined when there is no such page. */
export function trapAnswer(path: string): TrapAnswer | undefined {
  const [, first = "", ...rest] = path.split(/[/?]/);
  const fixed = FIXED[first];
  if (fixed !== undefined) return fixed(rest);
  return undefined;
}

const html = (body: string, headers?: Record<string, string>): TrapAnswer => ({
  status: 200,
  headers: { "content-type": "text/html; charset=utf-8", ...headers },
  body: `<!doctype html><title>Trap</title>${body}`,
});
const link = (href: string): string => `<a href="${href}">${href}</a>\n`;
const redirect = (location: string): TrapAnswer => ({ status: 302, headers: { location } });
const bomb = (body: Buffer, coding: string): TrapAnswer => ({
  status: 200,
  headers: { "content-type": "text/html", "content-encoding": coding },
  body,
});

const FIXED: Record<string, (rest: string[]) => TrapAnswer | undefined> = {
  "": () => html(TRAP_PATHS.map(link).join("")),
  calendar: ([year, month]) => html(link(nextMonth(Number(year), Number(month)))),
  session: ([id]) => html(link(`/session/${Number(id) + 1}`)),
  deep: (rest) => html(link(`/deep/${"a/".repeat(rest.length)}`)),
  loop: ([at]) => redirect(at === "a" ? "/loop/b" : "/loop/a"),
  self: () => redirect("/self"),
  chain: ([n]) => redirect(`/chain/${Number(n) + 1}`),
  bomb: ([coding]) =>
    coding === "br"
      ? bomb(brotliBomb(), "br")
      : coding === "gzip"
        ? bomb(gzipBomb(), "gzip")
        : undefined,
  huge: () =>
    html(`${link("/end-of-start")}${"lorem ipsum ".repeat(HUGE_BYTES / 12)}${link("/far")}`),
  links: () => html(Array.from({ length: LINK_COUNT }, (_, n) => `<a href=/leaf/${n}>`).join("")),
  leaf: () => html("leaf"),
  hang: () => ({ ...html("and then"), hangs: true }),
  cut: () => ({ ...html("only the beginning"), isCut: true }),
  wide: () => html("wide", { "x-wide": "w".repeat(100 * 1024) }),
  kinds: () =>
    html(
      [
        "mailto:a@b.example",
        "data:text/html,<a href=/x>",
        "javascript:void(0)",
        "tel:+1",
        "ftp://a/b",
        "#",
        " ",
      ]
        .map(link)
        .join("") +
        link("/image.png") +
        link("/paper.pdf"),
    ),
  "image.png": () => ({
    status: 200,
    headers: { "content-type": "image/png" },
    body: Buffer.alloc(64),
  }),
  "paper.pdf": () => ({
    status: 200,
    headers: { "content-type": "application/pdf" },
    body: "%PDF-1.7",
  }),
  nofollow: () => html(`<meta name=robots content="noindex, nofollow">${link("/never/1")}`),
  base: () =>
    html(`<base href="/based/deep/"><a rel="ugc nofollow" href="/never/2"></a>${link("page")}`),
  based: (rest) => html(`at ${rest.join("/")}`),
  canonical: () => html(`<link rel=canonical href="/canonical-form">`),
  "canonical-form": () => html("the canonical form"),
  refresh: () => html(`<meta http-equiv=Refresh content="0; URL='/refreshed'">`),
  refreshed: () => html("refreshed"),
  charset: () => ({
    status: 200,
    headers: { "content-type": "text/html" },
    // <meta charset=shift_jis>, and 日本 as Shift_JIS in title and link.
    body: Buffer.concat([
      Buffer.from("<!doctype html><meta charset=shift_jis><title>"),
      Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
      Buffer.from('</title><a href="/named/'),
      Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
      Buffer.from('">'),
    ]),
  }),
  named: () => html("named"),
  idn: () => html(link("http://bücher.outrider.test/") + link("/ümlaut?q=ß&amp;r=1")),
  "%C3%BCmlaut": () => html("umlaut"),
  "end-of-start": () => html("found before the bulk"),
  far: () => html("found behind the bulk"),
};

function nextMonth(year: number, month: number): string {
  return month === 12 ? `/calendar/${year + 1}/1` : `/calendar/${year}/${month + 1}`;
}

/** One compressed mebibyte, repeated: members of one gzip stream. */
function gzipBomb(): Buffer {
  const member = gzipSync(Buffer.alloc(MEBIBYTE), { level: 9 });
  return Buffer.concat(new Array<Buffer>(BOMB_MEBIBYTES).fill(member));
}

function brotliBomb(): Buffer {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
  return brotliCompressSync(Buffer.alloc(BOMB_MEBIBYTES * MEBIBYTE), { params });
}
