/** `outrider bench`: measures a frontier in memory on this machine, in one short run. */
import { createSystemClock, openFrontier } from "../../index.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";
import { EXIT_OK, type Io } from "../io.ts";
import { bytes, table, whole } from "../output/number-text.ts";

export const BENCH_FLAGS: readonly Flag[] = [
  { name: "urls", value: "<n>", text: "how many (1000000)" },
  { name: "json", text: "one JSON object" },
];

const URLS = 1_000_000;
const BATCH = 1_000;
const HOSTS = 10_000;

export async function benchCommand(args: Parsed, io: Io): Promise<number> {
  const urls = args.whole("urls") ?? URLS;
  if (urls === 0) throw new UsageError("--urls: 0 (expected: a whole number of at least 1)");
  const clock = createSystemClock();
  await using frontier = await openFrontier();
  let pushMs = 0;
  for (let start = 0; start < urls; start += BATCH) {
    const length = Math.min(BATCH, urls - start);
    const batch = Array.from({ length }, (_, at) => urlOf(start + at));
    const before = clock.monotonic();
    frontier.pushMany(batch);
    pushMs += clock.monotonic() - before;
  }
  const { memory } = frontier.report();
  const before = clock.monotonic();
  let done = 0;
  for (
    let leases = frontier.pollMany(BATCH);
    leases.length > 0;
    leases = frontier.pollMany(BATCH)
  ) {
    done += frontier.done(leases);
  }
  const pollMs = clock.monotonic() - before;
  const perSecond = (count: number, ms: number): number =>
    Math.round((count * 1000) / Math.max(ms, 1e-3));
  const result = {
    urls,
    pushPerSecond: perSecond(urls, pushMs),
    pollDonePerSecond: perSecond(done, pollMs),
    offHeapBytesPerUrl: Math.round(memory.offHeapBytes / Math.max(urls, 1)),
    node: process.version,
  };
  if (args.has("json")) io.out(`${JSON.stringify(result)}\n`);
  else {
    io.out(
      table([
        ["push", `${whole(result.pushPerSecond)} URLs/s, in batches of ${whole(BATCH)}`],
        ["poll, done", `${whole(result.pollDonePerSecond)} URLs/s`],
        ["memory", `${bytes(result.offHeapBytesPerUrl)} a URL off the heap`],
      ]),
    );
    io.out("one run on this machine; ratios with their intervals come from npm run bench\n");
  }
  return EXIT_OK;
}

function urlOf(index: number): string {
  return `https://www.host-${index % HOSTS}.example/page/${index}?a=1&b=2`;
}
