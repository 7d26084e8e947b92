/** `--ui`: the live page over the frontier of a crawl, from its opening to its end. */
import type { Crawl } from "../../../crawl.ts";
import type { Server } from "../../../server.ts";
import { type Flag, type Parsed, UsageError } from "../../flags.ts";

const HOST = "127.0.0.1";
/** The port of `outrider serve`; where another program has it, any free one is taken. */
const PORT = 7070;

export const UI_FLAGS: readonly Flag[] = [
  { name: "ui", text: "a live page in the browser: what happens, and buttons to steer it" },
  { name: "ui-port", value: "<n>", text: "its port; 0: any free one (7070)" },
];

/** Where the live page is shown, if anywhere. */
export function uiOf(args: Parsed): { port: number | undefined } | undefined {
  const port = args.whole("ui-port");
  return args.has("ui") || port !== undefined ? { port } : undefined;
}

/** Shows the page; `say` prints where it is. Returns a function that ends it. Port undefined: the usual one, or any free one. */
export function openCrawlPage(
  run: Crawl,
  port: number | undefined,
  say: (line: string) => void,
): () => Promise<void> {
  let opening: Promise<Server | undefined> | undefined;
  const ignore = run.on("status", ({ from }) => {
    if (from !== "opening") return;
    ignore();
    opening = open(run, port).then(
      (server) => {
        say(`page: http://${HOST}:${server.httpPort}/#token=${server.token}`);
        return server;
      },
      (cause: unknown) => {
        say(`page: ${(cause as Error).message}`);
        return undefined;
      },
    );
  });
  return async () => {
    ignore();
    await (await opening)?.close();
  };
}

async function open(run: Crawl, port: number | undefined): Promise<Server> {
  const frontier = run.frontier ?? run.shared;
  if (frontier === undefined) throw new UsageError("--ui: the crawl has ended before it began");
  // Loaded for those alone who want the page.
  const { serve } = await import("../../../server.ts");
  const at = (httpPort: number): Promise<Server> =>
    serve({
      ...{ frontier, host: HOST, port: false, httpPort },
      score: (host) => run.host(host)?.score,
    });
  if (port !== undefined) return await at(port);
  try {
    return await at(PORT);
  } catch (cause) {
    if ((cause as { code?: string }).code !== "PORT_IN_USE") throw cause;
    return await at(0);
  }
}
