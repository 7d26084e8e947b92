/**
 * Flags: a table per command, read with the platform's own parser. Flags that are not in the table are refused by name.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { didYouMean } from "../base/did-you-mean.ts";

export interface Flag {
  readonly name: string;
  /** One letter that stands for it. */
  readonly short?: string;
  /** Its value in help texts; undefined: none, it is a switch. */
  readonly value?: string;
  /** `list`: the flag takes all words that follow it. */
  readonly kind?: "list";
  readonly text: string;
}

export type Parsed = ReturnType<typeof parsedOf>;

/** A wrong command line. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** A flag that takes a whole number. */
function isWhole({ value }: Flag): boolean {
  return value === "<n>" || value === "<ms>";
}

/** The JSON of a file that a flag names. */
export function jsonOfFile(flag: string, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new UsageError(`--${flag}: ${path}: ${(cause as Error).message}`);
  }
}

/** Reads a command's arguments. Throws UsageError, which names the wrong one. */
export function parseFlags(args: readonly string[], flags: readonly Flag[]): Parsed {
  const values = new Map<string, string[]>();
  const words: string[] = [];
  const options = Object.fromEntries(
    flags.map(({ name, value, short }) => [
      name,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        multiple: true,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  let list: string | undefined;
  for (const token of tokensOf(joined(args, flags), options)) {
    if (token.kind === "option") {
      const flag = flags.find(({ name }) => name === token.name);
      if (flag === undefined) throw new UsageError(unknownFlag(token, flags));
      if (flag.value === undefined && token.value !== undefined) {
        throw new UsageError(`${token.rawName}: takes no value`);
      }
      if (flag.value !== undefined && token.value === undefined) {
        throw new UsageError(`${token.rawName}: needs ${flag.value}`);
      }
      values.set(flag.name, [...(values.get(flag.name) ?? []), token.value ?? ""]);
      list = flag.kind === "list" ? flag.name : undefined;
    } else if (token.kind === "positional") {
      // Words after a list's flag belong to it, until one that can only be a URL.
      if (list !== undefined && !token.value.includes("://")) values.get(list)?.push(token.value);
      else words.push(token.value);
    } else list = undefined;
  }
  return parsedOf(values, words);
}

/** `--delay -5` is a wrong number, not an unknown flag. */
function joined(args: readonly string[], flags: readonly Flag[]): string[] {
  const whole = new Set(flags.filter(isWhole).map(({ name }) => name));
  const all: string[] = [];
  for (const arg of args) {
    const before = all.at(-1) ?? "";
    const isNumber = /^-\d/.test(arg) && before.startsWith("--") && whole.has(before.slice(2));
    if (isNumber) all[all.length - 1] = `${before}=${arg}`;
    else all.push(arg);
  }
  return all;
}

function unknownFlag({ name, rawName }: { name: string; rawName: string }, flags: readonly Flag[]) {
  const names = flags.map((flag) => flag.name);
  return `unknown flag: ${rawName}${didYouMean(name, names, "--")}`;
}

type Token =
  | { kind: "option"; name: string; rawName: string; value: string | undefined }
  | { kind: "positional"; value: string }
  | { kind: "option-terminator" };

function tokensOf(
  args: readonly string[],
  options: Record<string, { type: "boolean" | "string"; multiple: boolean; short?: string }>,
): readonly Token[] {
  const config = { args: [...args], options, strict: false, allowPositionals: true };
  return parseArgs({ ...config, tokens: true }).tokens as unknown as readonly Token[];
}

function parsedOf(values: Map<string, string[]>, words: string[]) {
  const last = (name: string): string | undefined => values.get(name)?.at(-1);
  return {
    words,
    has: (name: string): boolean => values.has(name),
    text: last,
    whole(name: string): number | undefined {
      const text = last(name);
      if (text === undefined) return undefined;
      const value = Number(text);
      if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
      const expected = /^-[\d.]+$/.test(text) ? "0 or more" : "a whole number";
      throw new UsageError(`--${name}: ${text} (expected: ${expected})`);
    },
    /** Throws UsageError for any other word. */
    choice<const W extends string>(name: string, words: readonly W[]): W | undefined {
      const text = last(name);
      const word = words.find((each) => each === text);
      if (text === undefined || word !== undefined) return word;
      throw new UsageError(`--${name}: ${text} (expected: ${words.join(", ")})`);
    },
    /** Each value as it was given: what may hold a comma. */
    all: (name: string): string[] | undefined => values.get(name),
    list: (name: string): string[] | undefined =>
      values
        .get(name)
        ?.flatMap((each) => each.split(","))
        .filter((each) => each !== ""),
  };
}
