/** Commands that carry a frontier out of a directory and into one. */
import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { RecordState, RequestLike } from "../index.ts";
import { chosenOf, COMMON, FILTER, filterOf, openChosen } from "./directory.ts";
import { type Flag, type Parsed, UsageError } from "./flags.ts";
import { EXIT_OK, type Io } from "./io.ts";
import { whole } from "./text.ts";

/** As a file's name: standard input. */
const STDIN = "-";
const STATES: readonly RecordState[] = ["pending", "waiting", "failed"];

export const IMPORT_FLAGS = COMMON;
export const EXPORT_FLAGS: readonly Flag[] = [
  { name: "state", value: "<state>", text: "pending, waiting or failed (all three)" },
  ...FILTER,
  ...COMMON,
];

/** JSON lines that `import` takes. */
export async function exportCommand(args: Parsed, io: Io): Promise<number> {
  const asked = args.text("state");
  if (asked !== undefined && !STATES.includes(asked as RecordState)) {
    throw new UsageError(`--state: ${asked} (expected: ${STATES.join(", ")})`);
  }
  await using frontier = await openChosen(await chosenOf(args, "export"), { readOnly: true });
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
  await using frontier = await openChosen(await chosenOf(args, "import", true));
  const { size, accepted, deferred, duplicate, rejected, full } = await frontier.pushFrom(
    requestsOf(file),
  );
  await frontier.flush();
  const result = { size, accepted, deferred, duplicate, rejected, full };
  const words = `${whole(accepted + deferred)} of ${whole(size)} are new\n`;
  io.out(args.has("json") ? `${JSON.stringify(result)}\n` : words);
  return EXIT_OK;
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
