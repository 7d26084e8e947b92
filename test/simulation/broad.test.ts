/**
 * A broad crawl beyond memory: hosts by the million, most with one URL, in a directory under a bound on memory. Pushed, visited, killed, opened again and
 * visited on, in processes of their own: nothing is lost, no host is visited too early, and memory stays within its bounds all the time.
 *
 * BROAD_HOSTS= and BROAD_URLS= name other numbers; memory grows with them, so that 2·10⁷ hosts have 640 MiB and their seen-set 160.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const CHILD = fileURLToPath(new URL("../support/broad-child.mjs", import.meta.url));
const HOSTS = Number(process.env.BROAD_HOSTS ?? 2_000_000);
const URLS = Number(process.env.BROAD_URLS ?? HOSTS * 1.25);
const VISITS = Math.ceil(HOSTS / 100);
const DELAY_MS = 500;
const MEMORY_BYTES = HOSTS * 32;
const SEEN_BYTES = HOSTS * 8;
/** What a host on disk keeps in memory: its entry in the index, and its share of a block's words. */
const HOST_BYTES = 24;
/** Node, the kernel, buffers, and what the garbage collector leaves for a while. */
const BASE_BYTES = 190_000_000;

type Facts = Record<string, unknown> & { what: string };

test("a broad crawl beyond memory loses nothing over a kill, is polite and keeps its bounds", async () => {
  const directory = mkdtempSync(join(tmpdir(), "outrider-broad-"));
  try {
    const first = await play(directory, 1_700_000_000_000, false);
    const pushed = factsOf(first, "pushed");
    expect(pushed).toMatchObject({ accepted: URLS, duplicate: 0, full: 0 });
    const flushed = factsOf(first, "flushed");
    const { seen, now } = factsOf(first, "visits") as unknown as Visits;
    const second = await play(directory, now, true);
    const { pending, leased, waiting, done, hosts } = flushed;
    expect(factsOf(second, "opened")).toMatchObject({ pending, leased, waiting, done, hosts });
    expect(factsOf(second, "again")).toMatchObject({ accepted: 0, duplicate: URLS, full: 0 });
    expect(factsOf(second, "unchanged")).toMatchObject({ isSame: true });
    const visits = [...seen, ...(factsOf(second, "visits") as unknown as Visits).seen];
    expect(visits.length).toBeGreaterThan(VISITS / 100);
    expect(tooEarly(visits)).toEqual([]);
    const most = MEMORY_BYTES + SEEN_BYTES + HOSTS * HOST_BYTES + BASE_BYTES;
    for (const facts of [...first, ...second]) {
      if (facts.residentBytes !== undefined) expect(facts.residentBytes).toBeLessThan(most);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}, 3_600_000);

interface Visits {
  readonly seen: ReadonlyArray<readonly [string, number]>;
  readonly now: number;
}

/** Visits of a host before its delay had passed. */
function tooEarly(visits: Visits["seen"]): unknown[] {
  const last = new Map<string, number>();
  return visits.filter(([host, atMs]) => {
    const before = last.get(host) ?? Number.NEGATIVE_INFINITY;
    last.set(host, atMs);
    return atMs - before < DELAY_MS;
  });
}

function factsOf(all: readonly Facts[], what: string): Facts {
  const found = all.find((facts) => facts.what === what);
  if (found === undefined) throw new Error(`the process did not print ${what}`);
  return found;
}

/** Runs one process to its end and returns what it printed. */
async function play(directory: string, now: number, isSecond: boolean): Promise<Facts[]> {
  const load = { hosts: HOSTS, urls: URLS, visits: VISITS, delayMs: DELAY_MS };
  const bounds = { memoryBytes: MEMORY_BYTES, seenBytes: SEEN_BYTES };
  const text = JSON.stringify({ ...load, ...bounds, directory, now, isSecond });
  const child = spawn(process.execPath, [CHILD, text], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (output += piece));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once("close", (...how) => resolve(how as [number | null, string | null])),
  );
  expect([code, signal]).toEqual(isSecond ? [0, null] : [null, "SIGKILL"]);
  const all = output.trim().split("\n");
  for (const line of all) if (!line.startsWith('{"what":"visits"')) console.log(line);
  return all.map((line) => JSON.parse(line) as Facts);
}
