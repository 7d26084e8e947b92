/**
 * Commands over a frontier in a directory: each opens it (and so holds its lock for that time), does one thing, and closes.
 *
 *   stats · peek · export · import <file> · requeue · verify · compact
 */
import { createReadStream, existsSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import {
  type Frontier,
  type FrontierEvents,
  type FrontierOptions,
  openFrontier,
  presets,
  type RecordState,
  type RequestLike,
} from "../index.ts";
import { type Flag, type Parsed, UsageError } from "./flags.ts";
import { EXIT_FAULT, EXIT_OK, type Io } from "./io.ts";
import { whole } from "./text.ts";

const COMMON: readonly Flag[] = [
  { name: "name", value: "<text>", text: "which frontier of the directory (default)" },
  { name: "preset", value: "<name>", text: "the preset that the directory was made with" },
  { name: "json", text: "the last line of standard output is one JSON object" },
];
const FILTER: readonly Flag[] = [
  { name: "rule", value: "<id>", text: "of this rule alone" },
  { name: "host", value: "<host>", text: "of this host alone" },
];
/** As a file's name: standard input. */
const STDIN = "-";
const STATES: readonly RecordState[] = ["pending", "waiting", "failed"];

export const STATS_FLAGS = COMMON;
export const VERIFY_FLAGS = COMMON;
export const COMPACT_FLAGS = COMMON;
export const IMPORT_FLAGS = COMMON;
export const PEEK_FLAGS: readonly Flag[] = [
  { name: "max", value: "<n>", kind: "whole", text: "how many (20)" },
  ...COMMON,
];
export const EXPORT_FLAGS: readonly Flag[] = [
  { name: "state", value: "<state>", text: "pending, waiting or failed (all three)" },
  ...FILTER,
  ...COMMON,
];
export const REQUEUE_FLAGS: readonly Flag[] = [...FILTER, ...COMMON];

export async function statsCommand(args: Parsed, io: Io): Promise<number> {
  await using frontier = await openOld(args, "stats");
  const report = frontier.report();
  io.out(args.has("json") ? `${JSON.stringify(report)}\n` : `${String(report).trimEnd()}\n`);
  return EXIT_OK;
}

export async function peekCommand(args: Parsed, io: Io): Promise<number> {
  const max = args.whole("max") ?? 20;
  await using frontier = await openOld(args, "peek");
  const next = frontier.peek(max);
  if (args.has("json")) io.out(`${JSON.stringify({ next })}\n`);
  else for (const { priority, depth, url } of next) io.out(`${priority}\t${depth}\t${url}\n`);
  return EXIT_OK;
}

/** JSON lines that `import` takes. */
export async function exportCommand(args: Parsed, io: Io): Promise<number> {
  const asked = args.text("state");
  if (asked !== undefined && !STATES.includes(asked as RecordState)) {
    throw new UsageError(`--state: ${asked} (expected: ${STATES.join(", ")})`);
  }
  await using frontier = await openOld(args, "export");
  let exported = 0;
  for (const state of asked === undefined ? STATES : [asked as RecordState]) {
    for (const { url, priority, depth } of frontier.records({ state, ...filterOf(args) })) {
      if (url === undefined) continue;
      io.out(`${JSON.stringify({ url, priority, depth })}\n`);
      exported++;
    }
  }
  if (args.has("json")) io.out(`${JSON.stringify({ exported })}\n`);
  return EXIT_OK;
}

export async function importCommand(args: Parsed, io: Io): Promise<number> {
  const [, file] = args.words;
  if (file === undefined) throw new UsageError("import: no file");
  if (file !== STDIN && !existsSync(file)) throw new UsageError(`import: ${file}: no such file`);
  await using frontier = await openOld(args, "import", false);
  const { size, accepted, deferred, duplicate, rejected, full } = await frontier.pushFrom(
    requestsOf(file),
  );
  await frontier.flush();
  const result = { size, accepted, deferred, duplicate, rejected, full };
  const words = `${whole(accepted + deferred)} of ${whole(size)} are new\n`;
  io.out(args.has("json") ? `${JSON.stringify(result)}\n` : words);
  return EXIT_OK;
}

export async function requeueCommand(args: Parsed, io: Io): Promise<number> {
  await using frontier = await openOld(args, "requeue");
  const requeued = frontier.requeue({ state: "failed", ...filterOf(args) });
  await frontier.flush();
  io.out(args.has("json") ? `${JSON.stringify({ requeued })}\n` : `${whole(requeued)} requeued\n`);
  return EXIT_OK;
}

/** Opening reads every byte and checks every sum; what was damaged is told and has been put aside. */
export async function verifyCommand(args: Parsed, io: Io): Promise<number> {
  const damage: unknown[] = [];
  await using frontier = await openOld(args, "verify");
  const resumed = await new Promise<FrontierEvents["resumed"] | undefined>((resolve) => {
    frontier.on("resumed", resolve);
    frontier.on("error", ({ cause }) => damage.push(String(cause)));
    setImmediate(() => resolve(undefined));
  });
  const found = (resumed as { damage?: unknown } | undefined)?.damage;
  if (Array.isArray(found)) damage.push(...found);
  const { pending, waiting, leased, done, failed } = frontier.report();
  const records = pending + waiting + leased + done + failed;
  const isWhole = damage.length === 0;
  if (args.has("json")) io.out(`${JSON.stringify({ isWhole, records, damage })}\n`);
  else if (isWhole) io.out(`whole: ${whole(records)} records\n`);
  else for (const each of damage) io.out(`damaged: ${JSON.stringify(each)}\n`);
  return isWhole ? EXIT_OK : EXIT_FAULT;
}

export async function compactCommand(args: Parsed, io: Io): Promise<number> {
  await using frontier = await openOld(args, "compact");
  const { path, records, bytes } = await frontier.snapshot();
  const words = `${path}: ${whole(records)} records, ${whole(bytes)} bytes\n`;
  io.out(args.has("json") ? `${JSON.stringify({ path, records, bytes })}\n` : words);
  return EXIT_OK;
}

/** The frontier of a directory; what is not there is no frontier, unless it may be made. */
async function openOld(args: Parsed, command: string, mustExist = true): Promise<Frontier> {
  const [directory] = args.words;
  if (directory === undefined) throw new UsageError(`${command}: no directory`);
  if (mustExist && !(existsSync(directory) && statSync(directory).isDirectory())) {
    throw new UsageError(`${command}: ${directory}: no such directory`);
  }
  const name = args.text("name");
  return await openFrontier({
    ...presetOf(args),
    directory,
    ...(name === undefined ? {} : { name }),
  });
}

/** A directory opens with the key policy that it was made with: a preset has one of its own. */
function presetOf(args: Parsed): FrontierOptions {
  const name = args.text("preset");
  if (name === undefined) return {};
  if (!Object.hasOwn(presets, name)) {
    throw new UsageError(`--preset: ${name} (expected: ${Object.keys(presets).join(", ")})`);
  }
  return presets[name as keyof typeof presets]();
}

function filterOf(args: Parsed): { rule?: string; host?: string } {
  const rule = args.text("rule");
  const host = args.text("host");
  return { ...(rule === undefined ? {} : { rule }), ...(host === undefined ? {} : { host }) };
}

/** One request a line: a URL, or JSON as `export` writes it. */
async function* requestsOf(file: string): AsyncGenerator<RequestLike> {
  const lines = createInterface({ input: inputOf(file), crlfDelay: Infinity });
  let number = 0;
  for await (const line of lines) {
    number++;
    const text = line.trim();
    if (text === "") continue;
    if (!text.startsWith("{")) yield text;
    else yield requestOf(text, `${file}:${number}`);
  }
}

/** A file, unpacked where its name ends in .gz, or standard input. */
function inputOf(file: string): Readable {
  if (file === STDIN) return process.stdin;
  const input = createReadStream(file);
  if (!file.endsWith(".gz")) return input;
  const unpacked = createGunzip();
  input.on("error", (cause) => unpacked.destroy(cause));
  return input.pipe(unpacked);
}

function requestOf(text: string, place: string): RequestLike {
  try {
    return JSON.parse(text) as RequestLike;
  } catch {
    throw new UsageError(`${place}: neither a URL nor JSON`);
  }
}
