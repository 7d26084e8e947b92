/**
 * How a site prefers its content to be used: lines of Content-Usage and Content-Signal, in headers and in robots.txt.
 *
 *   Content-Usage: train-ai=n, search=y           a dictionary (RFC 9651, 3.2) of draft-ietf-aipref-vocab-08, as draft-ietf-aipref-attach-05
 *                                                 attaches it; in robots.txt after a path: `Content-Usage: /docs/ train-ai=y`
 *   Content-Signal: ai-train=no, search=yes       pairs of contentsignals.org
 *
 *   I1  A dictionary that cannot be parsed is ignored, as the draft demands; of pairs, only those that cannot be parsed are skipped.
 *   I2  Linear in the text, and total.
 */

/** What is preferred of a use. Without an entry nothing is known. */
export type UsagePreference = "allow" | "disallow";

/** Categories of the vocabulary; others mean nothing until a draft defines them. */
const CATEGORIES: readonly string[] = ["train-ai", "ai-use", "search"];
const PREFERENCES: Readonly<Record<string, UsagePreference>> = Object.freeze({
  y: "allow",
  n: "disallow",
});

/** The preferences of one Content-Usage; of several header lines, joined by commas. */
export function readContentUsage(text: string): Record<string, UsagePreference> {
  const values = readDictionary(text);
  const preferences: Record<string, UsagePreference> = {};
  for (const category of CATEGORIES) {
    const preference = PREFERENCES[values?.get(category) ?? ""];
    if (preference !== undefined) preferences[category] = preference;
  }
  return preferences;
}

const SIGNAL = /^[a-z][\w-]{0,63}$/;
const SIGNAL_VALUE = /^[\w-]{1,64}$/;
const SIGNALS_MAX = 32;

/** The signals of one Content-Signal, names and values in lower case: `yes`, `no`, or what is written there. */
export function readContentSignal(text: string): Record<string, string> {
  const signals: Record<string, string> = {};
  let count = 0;
  for (const part of text.toLowerCase().split(/[,;]/)) {
    const equals = part.indexOf("=");
    const name = part.slice(0, Math.max(equals, 0)).trim();
    const value = part.slice(equals + 1).trim();
    if (!SIGNAL.test(name) || !SIGNAL_VALUE.test(value) || ++count > SIGNALS_MAX) continue;
    Object.defineProperty(signals, name, { value, enumerable: true, configurable: true });
  }
  return signals;
}

/** Of two statements about one use, the one that forbids it. */
export function stricterUsage(a: UsagePreference | undefined, b: UsagePreference): UsagePreference {
  return a === "disallow" ? a : b;
}

/** The same of signals; of two that forbid nothing, the later. */
export function stricterSignal(a: string | undefined, b: string): string {
  return a === "no" ? a : b;
}

const KEY = /[a-z*][a-z0-9_.*-]*/y;
const TOKEN = /[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*/;
const STRING = /"(?:[ !#-[\]-~]|\\["\\])*"/;
const BYTES = /:[A-Za-z0-9+/=]*:/;
const NUMBER_OR_DATE = /-?\d{1,12}\.\d{1,3}|[-@]?-?\d{1,15}/;
const BOOLEAN = /\?[01]/;
const DISPLAY_STRING = /%"(?:[ !#$&-~]|%[\da-f]{2})*"/;
/** A bare item of a structured field (RFC 9651, 3.3). */
const ITEM = new RegExp(
  [TOKEN, STRING, BYTES, NUMBER_OR_DATE, BOOLEAN, DISPLAY_STRING]
    .map((one) => one.source)
    .join("|"),
  "y",
);
const BLANKS = /[ \t]*/y;
const SPACES = / */y;

/** Values of a dictionary as they are written, without parameters; inner lists as "(". undefined: it is none. */
function readDictionary(text: string): Map<string, string> | undefined {
  const scanner = createScanner(text.trim());
  const values = new Map<string, string>();
  if (scanner.isAtEnd()) return values;
  for (;;) {
    const key = scanner.take(KEY);
    if (key === undefined) return undefined;
    const value = scanner.skip("=") ? itemOrList(scanner) : "?1";
    if (value === undefined || !skipParameters(scanner)) return undefined;
    values.set(key, value);
    scanner.take(BLANKS);
    if (scanner.isAtEnd()) return values;
    if (!scanner.skip(",")) return undefined;
    scanner.take(BLANKS);
  }
}

function itemOrList(scanner: Scanner): string | undefined {
  if (!scanner.skip("(")) return scanner.take(ITEM);
  for (;;) {
    scanner.take(SPACES);
    if (scanner.skip(")")) return "(";
    if (scanner.take(ITEM) === undefined || !skipParameters(scanner)) return undefined;
    if (!scanner.isNext(" ") && !scanner.isNext(")")) return undefined;
  }
}

function skipParameters(scanner: Scanner): boolean {
  while (scanner.skip(";")) {
    scanner.take(SPACES);
    if (scanner.take(KEY) === undefined) return false;
    if (scanner.skip("=") && scanner.take(ITEM) === undefined) return false;
  }
  return true;
}

type Scanner = ReturnType<typeof createScanner>;

function createScanner(text: string) {
  let at = 0;
  const isNext = (letter: string): boolean => text[at] === letter;
  return {
    isAtEnd: (): boolean => at >= text.length,
    isNext,
    skip(letter: string): boolean {
      if (!isNext(letter)) return false;
      at++;
      return true;
    },
    /** What a sticky pattern matches here. */
    take(pattern: RegExp): string | undefined {
      pattern.lastIndex = at;
      const [found] = pattern.exec(text) ?? [];
      at += found?.length ?? 0;
      return found;
    },
  };
}
