/** A fault of a crawl as text for people: where, what, and what the user can do. */
import type { CrawlFault } from "../../crawl.ts";
import { lineText } from "./terminal-text.ts";

/** By the class of the downloader's error. */
const ADVICE: Readonly<Record<string, string>> = Object.freeze({
  address: "private addresses are refused: --allow-private permits them",
  "no-host": "check the spelling of the name, and that this machine can resolve names",
  dns: "the name server did not answer: check the network of this machine",
  connect: "nothing listens on that port: check the port, and that the site is up",
  proxy: "the proxy refused the connection: check --proxy <url>, and its name and password",
  timeout: "no answer in time: check that the site can be reached from here, or use --proxy <url>",
  "plain-http": "the server does not speak TLS on that port: try http://",
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
