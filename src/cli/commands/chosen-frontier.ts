/**
 * The frontier and the directory that a command names, and the options to open it with.
 *
 *   stored options of the directory ◀─ over them: --preset ◀─ over them: --options <file>
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Frontier, type FrontierOptions, openFrontier, presets } from "../../index.ts";
import { storedOptions } from "../../tools.ts";
import { type Flag, jsonOfFile, type Parsed, UsageError } from "../flags.ts";

export const COMMON: readonly Flag[] = [
  { name: "name", value: "<text>", text: "which frontier of the directory (default)" },
  { name: "options", value: "<file>", text: "options of openFrontier: JSON, or a module's" },
  { name: "preset", value: "<name>", text: "a preset's options" },
  { name: "json", text: "the last line of standard output is one JSON object" },
];
export const DIRECTORY: Flag = {
  name: "dir",
  value: "<dir>",
  text: "the directory, instead of an argument",
};
export const FILTER: readonly Flag[] = [
  { name: "rule", value: "<id>", text: "of this rule alone" },
  { name: "host", value: "<host>", text: "of this host alone" },
];

interface ChosenFrontier {
  readonly directory: string;
  readonly name: string | undefined;
  readonly options: FrontierOptions;
  /** Functions with which its own program opened it, and which are missing now. */
  readonly missing: readonly string[];
  /** Whether there is such a frontier. */
  readonly exists: boolean;
  /** The process that has it open. */
  readonly owner: number | undefined;
}

/** Throws UsageError when there is no such frontier, unless it may be created. */
export async function chosenFrontierOf(
  args: Parsed,
  command: string,
  mayMake = false,
): Promise<ChosenFrontier> {
  const directory = directoryOf(args, command);
  const name = args.text("name");
  const isThere = isDirectory(directory);
  const isElse = !isThere && existsSync(directory);
  if (isElse) throw new UsageError(`${command}: ${directory}: not a directory`);
  if (!isThere && !mayMake) throw new UsageError(`${command}: ${directory}: no such directory`);
  const stored = isThere ? storedOptions(directory, name) : undefined;
  if (stored === undefined && !mayMake) throw new UsageError(noFrontier(command, directory, name));
  const path = args.text("options");
  const given = path === undefined ? {} : await optionsOf(path);
  const options = { ...stored?.options, ...presetOf(args), ...given };
  const isGiven = args.has("preset") || path !== undefined;
  const missing = isGiven ? [] : (stored?.missing ?? []);
  const { owner } = stored ?? {};
  return { directory, name, options, missing, exists: stored !== undefined, owner };
}

/** The directory is a word or a flag. */
function directoryOf({ words: [word], ...args }: Parsed, command: string): string {
  const flag = args.text("dir");
  if (flag !== undefined && word !== undefined) {
    throw new UsageError(`${command}: ${word}: one directory too many (expected: --dir alone)`);
  }
  const directory = flag ?? word;
  if (directory === undefined) throw new UsageError(`${command}: no directory`);
  return directory;
}

/** Opens the chosen frontier. A copy needs no store of whole records. */
export function openChosen(
  { directory, name, options }: ChosenFrontier,
  over: FrontierOptions = {},
): Promise<Frontier> {
  const records = over.readOnly === true ? { records: "state" as const } : {};
  return openFrontier({ ...options, ...records, ...over, directory, name });
}

/** A copy of a command's frontier, to be read. */
export async function openCopy(args: Parsed, command: string): Promise<Frontier> {
  return openChosen(await chosenFrontierOf(args, command), { readOnly: true });
}

export function filterOf(args: Parsed): { rule?: string; host?: string } {
  const rule = args.text("rule");
  const host = args.text("host");
  return { ...(rule === undefined ? {} : { rule }), ...(host === undefined ? {} : { host }) };
}

function noFrontier(command: string, directory: string, name: string | undefined): string {
  // Other folders and files are ignored.
  const names = readdirSync(directory)
    .filter((each) => isDirectory(join(directory, each)))
    .flatMap((each) => frontierAt(directory, each) ?? [])
    .slice(0, NAMES_MAX);
  const others = names.length === 0 ? "" : `; there is: ${names.join(", ")}`;
  return `${command}: ${join(directory, name ?? "default")}: no frontier${others}`;
}

const NAMES_MAX = 20;

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The name of the frontier in a folder, if there is one. */
function frontierAt(directory: string, folder: string): string | undefined {
  try {
    const name = decodeURIComponent(folder);
    return storedOptions(directory, name) === undefined ? undefined : name;
  } catch {
    return undefined;
  }
}

function presetOf(args: Parsed): FrontierOptions {
  const name = args.text("preset");
  if (name === undefined) return {};
  if (!Object.hasOwn(presets, name)) {
    throw new UsageError(`--preset: ${name} (expected: ${Object.keys(presets).join(", ")})`);
  }
  return presets[name as keyof typeof presets]();
}

/** Options from JSON, or from a module's export `options` or its default export. */
async function optionsOf(path: string): Promise<FrontierOptions> {
  const given = /\.[cm]?js$/.test(path) ? await exportedBy(path) : jsonOfFile("options", path);
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given;
  throw new UsageError(`--options: ${path}: expected an object with options of openFrontier()`);
}

async function exportedBy(path: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
    return module.options ?? module.default;
  } catch (cause) {
    throw new UsageError(`--options: ${path}: ${(cause as Error).message}`);
  }
}
