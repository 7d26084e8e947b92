/** `outrider demo`: crawls a synthetic web on loopback, live; the web's own log shows how polite the crawl was. */
import { openSyntheticWebThread } from "../../testing.ts";
import { UI_FLAGS, uiOf } from "./crawl/crawl-page.ts";
import type { Flag, Parsed } from "../flags.ts";
import type { Io } from "../io.ts";
import { runCrawl } from "./crawl/run-crawl.ts";
import { broken, table, together, whole } from "../output/number-text.ts";

export const DEMO_FLAGS: readonly Flag[] = [
  { name: "hosts", value: "<n>", text: "virtual hosts (2000)" },
  { name: "pages", value: "<n>", text: "pages of all hosts together (10000)" },
  { name: "seed", value: "<n>", text: "same seed, same web (1)" },
  { name: "threads", value: "<n>", text: "worker threads that visit; 0: none (2)" },
  { name: "concurrency", value: "<n>", text: "visits at once (64)" },
  { name: "delay", value: "<ms>", text: "least time between visits of a host (2)" },
  { name: "no-traps", text: "leave out the host of traps: endless paths, bombs, hanging answers" },
  ...UI_FLAGS,
  { name: "report", value: "<file.html>", text: "write a page with plots at the end" },
  { name: "json", text: "the last line of standard output is the summary as JSON" },
  { name: "no-progress", text: "plain lines instead of a view that is redrawn" },
];

const HOSTS = 2_000;
const PAGES = 10_000;
const CONCURRENCY = 64;
const THREADS = 2;
const DELAY_MS = 2;
const TITLES_SHOWN = 3;

export async function demoCommand(args: Parsed, io: Io): Promise<number> {
  const hosts = args.whole("hosts") ?? HOSTS;
  const pages = args.whole("pages") ?? Math.max(PAGES, hosts);
  const delayMs = args.whole("delay") ?? DELAY_MS;
  const seed = args.whole("seed") ?? 1;
  const traps = !args.has("no-traps");
  const web = await openSyntheticWebThread({ seed, hosts, pages: Math.max(pages, hosts), traps });
  const isJson = args.has("json");
  const titles: string[] = [];
  if (!isJson) {
    const size = `${whole(hosts)} hosts and ${whole(web.plan.pages)} pages`;
    const kinds = "slow and broken hosts, redirects, duplicates, robots.txt, sitemaps";
    const about = `a web of ${size}, seed ${seed}, on 127.0.0.1:${web.port}:`;
    io.out(linesOf(io, `${about} ${kinds}${traps ? ", and a host of traps" : ""}`));
  }
  const options = {
    seeds: web.seed,
    dial: web.dial,
    allowPrivate: true,
    delayMs,
    threads: args.whole("threads") ?? THREADS,
    concurrency: args.whole("concurrency") ?? CONCURRENCY,
    // Small bounds, so that the host of traps does not take longer than all the others.
    maxDepth: 30,
    maxLinks: 200,
    maxRedirects: 5,
    maxBytes: 2 * 1024 * 1024,
    timeouts: { bodyMs: 500 },
    robots: { retryMs: 20 },
    defaults: { politeness: { hostBackoff: { after: 10, baseMs: 20, maxMs: 100 } } },
  };
  try {
    return await runCrawl(io, options, {
      title: `demo, seed ${seed}`,
      isJson,
      isLive: !args.has("no-progress"),
      report: args.text("report"),
      ui: uiOf(args),
      goOn: undefined,
      onStart: (run) => {
        const ignore = run.on("page", ({ title }) => {
          titles.push(together(`“${title}”`));
          if (titles.length >= TITLES_SHOWN) ignore();
        });
        return ignore;
      },
      onEnd: async () => {
        const manners = await web.manners(delayMs);
        if (!isJson) {
          const { requests, parallelMax, violations } = manners;
          const rows = [
            ["requests", whole(requests)],
            ["of one host", `at most ${parallelMax} at once`],
            ["too soon", `${whole(violations)}, sooner than ${delayMs} ms after another`],
            ["first pages", titles.join(", ")],
          ] as const;
          io.out(`what the web saw\n\n${table(rows, io.outColumns())}\n`);
        }
        return { seed, web: { hosts, pages: web.plan.pages, ...manners } };
      },
    });
  } finally {
    await web.close();
  }
}

/** A sentence, broken to the terminal's width. */
function linesOf(io: Io, text: string): string {
  const lines = broken(text, io.outColumns() ?? Number.POSITIVE_INFINITY);
  return lines.map((line) => `${line}\n`).join("");
}
