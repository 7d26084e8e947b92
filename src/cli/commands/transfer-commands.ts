/** Commands that carry a frontier out of a directory and into one. */
import { existsSync } from "node:fs";
import {
  exportFrontier,
  type ExportOptions,
  importFrontier,
  type ImportResult,
} from "../../tools.ts";
import { chosenFrontierOf, COMMON, DIRECTORY, FILTER, filterOf } from "./chosen-frontier.ts";
import { REDIS, redisFrontierOf } from "./redis-frontier.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";
import { EXIT_INTERRUPTED, EXIT_OK, type Io } from "../io.ts";
import { whole } from "../output/number-text.ts";
import {
  isUrlList,
  linesOfFile,
  type Output,
  outputOf,
  STANDARD,
  webmagicCursor,
} from "./transfer-files.ts";

export const IMPORT_FLAGS: readonly Flag[] = [
  REDIS,
  {
    name: "partitions",
    value: "<n>",

    text: "with --redis: partitions of a new frontier (16, or the export's)",
  },
  ...COMMON,
];
export const EXPORT_FLAGS: readonly Flag[] = [
  DIRECTORY,
  REDIS,
  { name: "drain", text: "with --redis: hand out no page in any process meanwhile" },
  {
    name: "out",
    value: "<file>",
    text: "to this file, compressed if it ends in .gz; - is standard output",
  },
  {
    name: "format",
    value: "<name>",
    text: "lines (JSON) or urls; urls if the file ends in .txt",
  },
  { name: "state", value: "<state>", text: "pending, waiting or failed alone" },
  ...FILTER,
  ...COMMON,
];

/** All of a frontier as lines that `import` makes an equal one of; with a filter, or as URLs, its records alone. */
export async function exportCommand(args: Parsed, io: Io): Promise<number> {
  const state = args.choice("state", ["pending", "waiting", "failed"]);
  const byName = isUrlList(args.text("out")) ? "urls" : "lines";
  const format = args.choice("format", ["lines", "urls"]) ?? byName;
  const only = {
    ...(state === undefined ? {} : { state }),
    ...filterOf(args),
  };
  const isPart = format === "urls" || Object.keys(only).length > 0;
  const progress = progressOf(io);
  const linesFrom = await exporterOf(args);
  const output = outputOf(args.text("out"), io);
  const lines = linesFrom({ onProgress: progress.show, ...(isPart ? { only } : {}) });
  const leave =
    output.drop === undefined
      ? undefined
      : io.onInterrupt(() => {
          output.drop?.();
          io.exit(EXIT_INTERRUPTED);
        });
  let exported = 0;
  try {
    exported = await written(lines, output, format === "urls");
  } catch (error) {
    output.drop?.();
    throw error;
  } finally {
    leave?.();
  }
  progress.end();
  if (args.has("json")) io.out(`${JSON.stringify({ exported })}\n`);
  return EXIT_OK;
}

/** What reads the lines: of a directory, or of the frontier on Redis that is named. */
async function exporterOf(
  args: Parsed,
): Promise<(how: Pick<ExportOptions, "only" | "onProgress">) => AsyncIterable<string>> {
  const redis = args.text("redis");
  if (redis !== undefined) {
    await (await redisFrontierOf(args, "export"))?.close(); // it is there
    const { exportRedisFrontier } = await import("../../redis.ts");
    const name = args.text("name") ?? "default";
    return (how) => exportRedisFrontier({ redis, name, drain: args.has("drain"), ...how });
  }
  if (args.has("drain")) throw new UsageError("--drain: only with --redis");
  const { directory, name, options } = await chosenFrontierOf(args, "export");
  return (how) => exportFrontier(directory, { name, options, ...how });
}

/** Lines to their output; how many records there were. */
async function written(
  lines: AsyncIterable<string>,
  output: Output,
  isUrls: boolean,
): Promise<number> {
  let records = 0;
  for await (const line of lines) {
    const isRecord = line.startsWith('{"url"');
    if (isRecord) records++;
    if (!isUrls) await output.line(line);
    else if (isRecord) await output.line((JSON.parse(line) as { url: string }).url);
  }
  await output.end();
  return records;
}

export async function importCommand(args: Parsed, io: Io): Promise<number> {
  const isShared = args.has("redis");
  const file = args.words[isShared ? 0 : 1];
  if (isShared && args.words.length > 1)
    throw new UsageError(`import: ${file}: a directory beside --redis`);
  if (!isShared && args.has("partitions")) throw new UsageError("--partitions: only with --redis");
  if (file === undefined) throw new UsageError("import: no file");
  if (file !== STANDARD && !existsSync(file)) throw new UsageError(`import: ${file}: no such file`);
  const progress = progressOf(io);
  const take = isShared ? importIntoRedis : importIntoDirectory;
  const result = await take(args, file, progress.show);
  progress.end();
  printImport(result, args, io);
  return EXIT_OK;
}

type Show = Progress["show"];

async function importIntoDirectory(args: Parsed, file: string, show: Show): Promise<ImportResult> {
  const chosen = await chosenFrontierOf(args, "import", true);
  if (chosen.missing.includes("defaults.key.keyOf")) {
    const expected =
      "--options <module> with the program's keyOf, which makes this directory's keys";
    throw new UsageError(`import: ${chosen.directory}: no keyOf (expected: ${expected})`);
  }
  const { directory, name, options } = chosen;
  // The lines before the cursor were visited: seen from now on, and not pending. The others are pushed.
  const visited = webmagicCursor(file) ?? 0;
  if (chosen.exists && visited > 0) {
    throw new UsageError(`import: ${directory}: not empty (expected: a directory of its own)`);
  }
  return await importFrontier(directory, linesOfFile(file), {
    name,
    options,
    onProgress: show,
    visited,
  });
}

async function importIntoRedis(args: Parsed, file: string, show: Show): Promise<ImportResult> {
  for (const name of ["options", "preset"]) {
    if (args.has(name)) throw new UsageError(`--${name}: not with --redis`);
  }
  const { importRedisFrontier } = await import("../../redis.ts");
  const options = {
    redis: args.text("redis") as string,
    name: args.text("name") ?? "default",
    ...{ partitions: args.whole("partitions"), visited: webmagicCursor(file) ?? 0 },
    onProgress: show,
  };
  return await importRedisFrontier(options, linesOfFile(file));
}

function printImport({ kind, passed, ...counts }: ImportResult, args: Parsed, io: Io): void {
  const { accepted, deferred, size } = counts;
  if (args.has("json")) io.out(`${JSON.stringify({ ...counts, kind, passed })}\n`);
  else if (kind === "digests")
    io.out(`${whole(accepted)} of ${whole(size)} fingerprints are new\n`);
  else if (kind === "frontier") io.out(`a whole frontier: ${whole(size)} live records\n`);
  else io.out(`${whole(accepted + deferred)} of ${whole(size)} are new\n`);
  const why = kind === "digests" ? "its last line is cut short" : "a frontier is here already";
  if (passed > 0) io.err(`${whole(passed)} lines were not requests: ${why}\n`);
  const refused = counts.rejected + counts.full;
  const reasons = Object.entries(counts.reasons).map(([name, count]) => `${name} ${whole(count)}`);
  if (refused > 0) io.err(`${whole(refused)} were refused: ${reasons.join(", ")}\n`);
}

interface Progress {
  readonly show: (count: number, most?: number) => void;
  end(): void;
}

/** One line on a terminal, redrawn; nothing off it. */
function progressOf(io: Io): Progress {
  if (!io.isTerminal) return { show: () => {}, end: () => {} };
  let isDrawn = false;
  return {
    show(count) {
      isDrawn = true;
      io.draw([{ command: "lineStart" }, `${whole(count)} lines`]);
    },
    end() {
      if (isDrawn) io.draw([{ command: "lineStart" }, { command: "clearLine" }]);
    },
  };
}
