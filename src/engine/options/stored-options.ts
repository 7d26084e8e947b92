/**
 * Stored options: what a directory was opened with last, so that a tool can open it as its own program does.
 *
 *   openFrontier(options) ─▶ note "options", without functions, with their names ─▶ journal and snapshots ─▶ storedOptions
 *
 * Directories that were made before there was such a note hold their key policy alone: its text is read back.
 */
import { FrontierError, misuse } from "../../base/errors.ts";
import { nodeFiles } from "../../persistence/files.ts";
import { lockOwner } from "../../persistence/directory/directory-lock.ts";
import { readNotes } from "../../persistence/inspection/directory-notes.ts";
import { packr } from "../../persistence/msgpack.ts";
import { frontierDirectory, type Place } from "../../persistence/directory/frontier-directory.ts";
import { systemProcesses } from "../../persistence/directory/process-table.ts";
import type { KeyPolicy } from "../../url/keys/key-policy.ts";
import { isRecord, isSerializable } from "../../base/serializable.ts";
import type { FrontierOptions } from "../types/frontier-types.ts";

/** How a directory's frontier was opened last. */
export interface StoredOptions {
  /**
   * Options for `openFrontier`, beside the directory and the name. Rules are stored separately and need not be
   * given.
   */
  readonly options: FrontierOptions;
  /** Names of options that were functions, which cannot be stored. */
  readonly missing: readonly string[];
  /** Id of the process that has it open now; undefined: none. */
  readonly owner: number | undefined;
}

/** Options that decide what stands in a directory, or how it is taken out. */
const KEPT = [
  ...["defaults", "seen", "records", "capacity", "maxFound", "memoryBytes", "snapshots"],
  ...["durability", "leaseMs", "maxLeases", "maxDeliveries", "maxUrlBytes", "breaker"],
] as const;
const HOOKS = ["accept", "onIdle"] as const;

interface Note {
  readonly options: FrontierOptions;
  readonly missing: readonly string[];
}

/** What a note keeps of the options of an opening. */
export function noteOfOptions(given: FrontierOptions): Note {
  const missing: string[] = HOOKS.filter((name) => given[name] !== undefined);
  const options: Record<string, unknown> = {};
  for (const name of KEPT) {
    if (given[name] === undefined) continue;
    const plain = withoutFunctions(given[name], name, missing);
    if (isSerializable(plain)) options[name] = plain;
  }
  if (given.rules !== undefined && !isSerializable(given.rules)) missing.push("rules");
  return { options, missing };
}

/**
 * Returns the options that a directory was opened with last; undefined: it holds no frontier of that name. Reads
 * the beginnings of its files, takes no lock and changes nothing.
 *
 * Functions cannot be stored: `missing` names them. Where a function makes the keys (`keyOf`), the directory opens
 * without it, but every push is rejected.
 *
 * @example
 * const stored = storedOptions("crawl-data");
 * const frontier = await openFrontier({ ...stored?.options, directory: "crawl-data", readOnly: true });
 */
export function storedOptions(directory: string, name = "default"): StoredOptions | undefined {
  const place = { files: nodeFiles, directory: frontierDirectory(directory, name) };
  const notes = readNotes(place);
  if (notes === undefined) return undefined;
  const packed = notes.get("options");
  const profile = notes.get("profile");
  const noted =
    packed === undefined
      ? { options: optionsOfProfile(profile), missing: [] }
      : (packr.unpack(packed) as Note);
  return { ...openable(noted), owner: lockOwner(place, systemProcesses())?.pid };
}

/** The note itself, as it stands in a directory. */
export function storedNote(place: Place): unknown {
  const packed = readNotes(place)?.get("options");
  return packed === undefined ? undefined : packr.unpack(packed);
}

/** The options of a packed note, or of a profile where there is none. */
export function optionsOfNotes(notes: Readonly<Record<string, Uint8Array>>): FrontierOptions {
  const packed = notes.options;
  if (packed === undefined) return optionsOfProfile(notes.profile);
  return openable(packr.unpack(packed) as Note).options;
}

/** Keys that a function makes, and the function is missing: the directory opens, and a push is refused. */
function openable(noted: Note): Note {
  const { missing, options } = noted;
  if (!missing.includes("defaults.key.keyOf")) return noted;
  const key = { ...options.defaults?.key, keyOf: missingKey };
  return { missing, options: { ...options, defaults: { ...options.defaults, key } } };
}

function missingKey(): never {
  const expected = "the function that this frontier was made with, as an option";
  throw misuse("OPTION_INVALID", "defaults.key.keyOf", undefined, expected);
}

/** The same value without its functions, which are named. */
function withoutFunctions(value: unknown, name: string, missing: string[]): unknown {
  if (typeof value === "function") {
    missing.push(name);
    return undefined;
  }
  if (Array.isArray(value)) {
    const kept = value.map((one, at) => withoutFunctions(one, `${name}[${at}]`, missing));
    // A group without its function is none.
    return kept.filter((one, at) => !hasFunction(value[at]) && one !== undefined);
  }
  if (typeof value !== "object" || value === null || !isRecord(value)) return value;
  const fields: Array<[string, unknown]> = [];
  for (const [field, one] of Object.entries(value)) {
    const kept = withoutFunctions(one, `${name}.${field}`, missing);
    if (kept !== undefined) fields.push([field, kept]);
  }
  // An epoch that was a function alone leaves nothing that is an epoch.
  return fields.length === 0 && hasFunction(value) ? undefined : Object.fromEntries(fields);
}

function hasFunction(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((one) => typeof one === "function");
}

/** A key policy from its text (`policyId`), for directories that have no other note. */
function optionsOfProfile(packed: Uint8Array | undefined): FrontierOptions {
  if (packed === undefined) return {};
  const [first = "", ...fields] = String(packr.unpack(packed)).split(/;(?=[A-Za-z]+=)/);
  const key: Record<string, unknown> = { profile: first.slice(0, first.indexOf("/")) };
  const isCanonical = key.profile === "canonical";
  for (const field of fields) {
    const at = field.indexOf("=");
    const name = field.slice(0, at);
    const text = field.slice(at + 1);
    if (name === "keyOf") {
      if (text === "given") key.keyOf = missingKey;
    } else if (text === "all" || (name === "methods" && key.profile === "url")) continue;
    else if (text.startsWith("[")) key[name] = listOf(text);
    else if (text === "true" || text === "false") key[name] = text === "true";
    else key[name] = text;
  }
  if (Array.isArray(key.keepParams) && key.keepParams.length === 0) key.keepParams = "none";
  if (!isCanonical) delete key.dropParams;
  return { defaults: { key: key as KeyPolicy } };
}

function listOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FrontierError("FORMAT_UNSUPPORTED", `key profile: ${text} (expected: JSON)`, {
      cause,
    });
  }
}
