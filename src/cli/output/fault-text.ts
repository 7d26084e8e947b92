/** A fault of a crawl for a person: where, what, and what to do where somebody can do something. */
import type { CrawlFault } from "../../crawl.ts";
import { lineText } from "./terminal-text.ts";

/** By the class of what a downloader throws. */
const ADVICE: Readonly<Record<string, string>> = Object.freeze({
  address: "private addresses are refused: --allow-private permits them",
  "no-host": "see how the name is spelled, and that this machine can look names up",
  dns: "the name server did not answer: see that this machine is on the net",
  connect: "nobody listens there: see the port, and that the site is up",
  proxy:
    "the proxy opened no way: see --proxy <url>, and the name and password that it may ask for",
  timeout: "no answer in time: see that the site can be reached from here, or give --proxy <url>",
  "plain-http": "the URL begins with https, and the server knows no TLS there: try http://",
  tls: "its certificate is not trusted here: NODE_EXTRA_CA_CERTS=<file> adds yours",
});

/** One line, or two where there is something to do. */
export function faultText({ message, url, cause }: CrawlFault): string {
  const { fault } = (cause ?? {}) as { readonly fault?: unknown };
  const what = message.replace(/^crawler error: \w+: /, "");
  const line = lineText(url === undefined ? what : `${url}: ${what}`);
  const advice = typeof fault === "string" ? ADVICE[fault] : undefined;
  return advice === undefined ? line : `${line}\n  ${advice}`;
}
