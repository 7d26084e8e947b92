/**
 * Commands over a frontier in a directory. Those that only read open a copy: they take no lock and change no byte, also beside a running
 * crawl. Those that change something hold the lock while they do. With --redis some of them reach a frontier that processes share.
 *
 *   read     stats · peek · verify                 (export: transfer-commands.ts)
 *   change   requeue · compact                     (import: transfer-commands.ts)
 */
import type { Frontier } from "../../index.ts";
import { type FileCheck, verifyDirectory } from "../../tools.ts";
import {
  chosenFrontierOf,
  COMMON,
  DIRECTORY,
  FILTER,
  filterOf,
  openChosen,
  openCopy,
} from "./chosen-frontier.ts";
import type { Flag, Parsed } from "../flags.ts";
import { REDIS, redisFrontierOf } from "./redis-frontier.ts";
import { EXIT_FAULT, EXIT_OK, type Io } from "../io.ts";
import { counted, momentText, whole } from "../output/number-text.ts";
import { lineText } from "../output/terminal-text.ts";

export const VERIFY_FLAGS: readonly Flag[] = [DIRECTORY, ...COMMON];
export const COMPACT_FLAGS = VERIFY_FLAGS;
export const STATS_FLAGS: readonly Flag[] = [DIRECTORY, REDIS, ...COMMON];
export const PEEK_FLAGS: readonly Flag[] = [
  DIRECTORY,
  REDIS,
  { name: "max", value: "<n>", text: "how many (20)" },
  ...COMMON,
];
export const REQUEUE_FLAGS: readonly Flag[] = [
  DIRECTORY,
  REDIS,
  { name: "reason", value: "<text>", text: "what failed with this reason, such as 'status 503'" },
  ...FILTER,
  ...COMMON,
];

export async function statsCommand(args: Parsed, io: Io): Promise<number> {
  const shared = await redisFrontierOf(args, "stats");
  const rates = { pushed: 0, leased: 0, done: 0 };
  if (shared !== undefined) {
    await using open = shared;
    return printReport(args, io, Object.assign(await open.report(), { rates }));
  }
  const chosen = await chosenFrontierOf(args, "stats");
  await using frontier = await openChosen(chosen, { readOnly: true });
  // The copy is running. Only the owner can report the rates of the directory's own frontier.
  const { owner } = chosen;
  const status = owner === undefined ? "stopped" : "running";
  const whose = owner === undefined ? "" : `open in    process ${owner}\n`;
  return printReport(args, io, Object.assign(frontier.report(), { status, owner, rates }), whose);
}

function printReport(args: Parsed, io: Io, report: object, whose = ""): number {
  const text = `${String(report).trimEnd()}\n${whose}`;
  io.out(args.has("json") ? `${JSON.stringify(report)}\n` : text);
  return EXIT_OK;
}

export async function peekCommand(args: Parsed, io: Io): Promise<number> {
  const max = args.whole("max") ?? 20;
  const shared = await redisFrontierOf(args, "peek");
  const copy = shared === undefined ? await openCopy(args, "peek") : undefined;
  await using frontier = shared ?? (copy as Frontier);
  const next = await frontier.peek(max);
  const { pending } = await frontier.report();
  const why = copy === undefined ? undefined : whyFewer(copy, next.length, max);
  if (args.has("json")) {
    io.out(`${JSON.stringify({ next, pending, why })}\n`);
    return EXIT_OK;
  }
  for (const { priority, depth, url } of next) io.out(`${priority}\t${depth}\t${lineText(url)}\n`);
  if (why !== undefined) io.err(`${why}\n`);
  return EXIT_OK;
}

/** Why `peek` shows fewer than were asked for although more are pending. */
function whyFewer(frontier: Frontier, shown: number, max: number): string | undefined {
  const { pending, waiting, hosts } = frontier.report();
  const there = pending + waiting;
  if (shown >= Math.min(max, there)) return undefined;
  const dueAt = frontier.nextDueAt();
  const later = dueAt === undefined ? "" : `; the next may go at ${momentText(dueAt)}`;
  const whose = `the others wait for the clocks and limits of ${counted(hosts, "host")}`;
  const timed = waiting === 0 ? "" : `, ${whole(waiting)} for a time of their own`;
  const shownOf = `${whole(shown)} of ${whole(there)}`;
  return `${shownOf}: only these may be visited now; ${whose}${timed}${later}`;
}

export async function requeueCommand(args: Parsed, io: Io): Promise<number> {
  await using frontier =
    (await redisFrontierOf(args, "requeue")) ??
    (await openChosen(await chosenFrontierOf(args, "requeue")));
  const reason = args.text("reason");
  const requeued = await frontier.requeue({
    ...{ state: "failed", ...filterOf(args) },
    ...(reason === undefined ? {} : { reason }),
  });
  await frontier.flush();
  io.out(args.has("json") ? `${JSON.stringify({ requeued })}\n` : `${whole(requeued)} requeued\n`);
  return EXIT_OK;
}

/** Reads every byte of every file, checks every sum, and opens a copy; changes nothing. */
export async function verifyCommand(args: Parsed, io: Io): Promise<number> {
  const { directory, name, options } = await chosenFrontierOf(args, "verify");
  const onFile = (file: FileCheck): void => {
    if (!args.has("json")) io.out(`${lineOf(file)}\n`);
  };
  const check = await verifyDirectory(directory, { name, options, onFile });
  const { isWhole, records, damage, owner } = check;
  if (args.has("json")) io.out(`${JSON.stringify(check)}\n`);
  else {
    if (owner !== undefined) io.out(`process ${owner} works on it: judged as it began\n`);
    if (isWhole) io.out(`whole: ${whole(records ?? 0)} records\n`);
    else for (const each of damage) io.out(`damaged: ${each}\n`);
  }
  return isWhole ? EXIT_OK : EXIT_FAULT;
}

function lineOf({ state, path, bytes, parts, offset }: FileCheck): string {
  const where = offset === undefined ? "" : `, from byte ${whole(offset)} on`;
  return `${state.padEnd(7)}  ${path}: ${whole(bytes)} bytes, ${whole(parts)} parts${where}`;
}

export async function compactCommand(args: Parsed, io: Io): Promise<number> {
  await using frontier = await openChosen(await chosenFrontierOf(args, "compact"));
  const { path, records, bytes } = await frontier.snapshot({ whole: true });
  const words = `${path}: ${whole(records)} records, ${whole(bytes)} bytes\n`;
  io.out(args.has("json") ? `${JSON.stringify({ path, records, bytes })}\n` : words);
  return EXIT_OK;
}
