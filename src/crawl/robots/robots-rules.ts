/**
 * What a robots.txt says to one crawler, by RFC 9309: its lines read once, and paths matched against its rules.
 *
 *   text ─ lines ─▶ groups ─▶ those that name us; where there is none, those of "*" ─▶ rules, longest pattern first
 *
 *   /a/*.html$    "/a/" ─ then, anywhere behind ─ ".html" ─ and nothing behind it
 *
 *   I1  Linear in the file, whatever it holds: names, rules and stars that were made to multiply cost a look each.
 *   I2  A path costs a look at each rule at most, and a look is one search for each part between two stars.
 *   I3  `%7e`, `%7E` and `~` are one letter, in a rule and in a URL: none of them leads past a rule.
 */

interface RobotsText {
  isAllowed(url: string): boolean;
  /** The line that decides about a URL; undefined: none does, and it is allowed. */
  lineFor(url: string): string | undefined;
  /** As it was told; undefined: nothing, or no number. */
  readonly crawlDelaySeconds: number | undefined;
  readonly sitemaps: readonly string[];
  readonly ruleCount: number;
  /** Of all rules: what stands between their stars. */
  readonly partCount: number;
}

interface Rule {
  readonly isAllowed: boolean;
  /** As it was written. */
  readonly pattern: string;
  readonly length: number;
  /** What stands between stars. */
  readonly parts: readonly string[];
  /** Nothing may follow. */
  readonly isWhole: boolean;
}

/** Rules and delay of all groups of a name. */
interface Group {
  readonly rules: Array<{ isAllowed: boolean; pattern: string }>;
  delay: number | undefined;
  isNamed: boolean;
}

const ANYBODY = "*";

/** Reads a file for the crawler of a User-Agent. Total. */
export function readRobots(text: string, userAgent: string): RobotsText {
  const product = productOf(userAgent);
  const sitemaps: string[] = [];
  const ours: Group = { rules: [], delay: undefined, isNamed: false };
  const all: Group = { rules: [], delay: undefined, isNamed: false };
  let groups: Group[] = [];
  let isHead = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [name, value] = fieldOf(line);
    if (name === "user-agent") {
      if (!isHead) groups = [];
      isHead = true;
      const named = productOf(value);
      const group = named === product ? ours : named === ANYBODY ? all : undefined;
      if (group === undefined) continue;
      group.isNamed = true;
      if (!groups.includes(group)) groups.push(group);
    } else if (name === "sitemap") {
      if (value !== "") sitemaps.push(value);
    } else if (name === "allow" || name === "disallow") {
      isHead = false;
      if (value === "") continue;
      for (const { rules } of groups) rules.push({ isAllowed: name === "allow", pattern: value });
    } else if (name === "crawl-delay") {
      isHead = false;
      const delay = value === "" ? Number.NaN : Number(value);
      if (!Number.isNaN(delay)) for (const group of groups) group.delay = delay;
    }
    // Any other record is none of the protocol and ends nothing.
  }
  const { rules, delay } = ours.isNamed ? ours : all;
  const ordered = rules.map(ruleOf).sort(byWeight);
  return {
    crawlDelaySeconds: delay,
    sitemaps,
    ruleCount: ordered.length,
    partCount: ordered.reduce((sum, { parts }) => sum + parts.length, 0),
    isAllowed: (url) => decisive(ordered, url)?.isAllowed ?? true,
    lineFor(url) {
      const rule = decisive(ordered, url);
      if (rule === undefined) return undefined;
      return `${rule.isAllowed ? "Allow" : "Disallow"}: ${rule.pattern}`;
    },
  };
}

/** The rule that decides: the first that fits. */
function decisive(ordered: readonly Rule[], url: string): Rule | undefined {
  if (ordered.length === 0) return undefined;
  const path = unified(pathOf(url));
  return ordered.find((rule) => fits(rule, path));
}

/** A line's name in lower case and its value; comments are left out. */
function fieldOf(line: string): readonly [name: string, value: string] {
  const comment = line.indexOf("#");
  const said = comment < 0 ? line : line.slice(0, comment);
  const colon = said.indexOf(":");
  if (colon < 0) return ["", ""];
  return [said.slice(0, colon).trim().toLowerCase(), said.slice(colon + 1).trim()];
}

/** `Outrider/0.1 (+https://…)` is outrider, and so is `Outrider (+https://…)`. */
export function productOf(userAgent: string): string {
  const [product = ""] = userAgent.trim().toLowerCase().split(/[\s/]/, 1);
  return product;
}

function ruleOf({ isAllowed, pattern }: { isAllowed: boolean; pattern: string }): Rule {
  const isWhole = pattern.endsWith("$");
  const written = unified(encoded(isWhole ? pattern.slice(0, -1) : pattern));
  const [first = "", ...rest] = written.split("*");
  // What is empty between two stars asks for nothing; a star at the end does, for all that follows.
  const parts = [first, ...rest.filter((part, at) => part !== "" || at === rest.length - 1)];
  return { isAllowed, pattern, length: written.length + Number(isWhole), parts, isWhole };
}

/** The longest goes first; of two alike the one that allows. */
function byWeight(a: Rule, b: Rule): number {
  return b.length - a.length || Number(b.isAllowed) - Number(a.isAllowed);
}

function fits({ parts, isWhole }: Rule, path: string): boolean {
  const [first = ""] = parts;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = parts.length - 1;
  if (last === 0) return !isWhole || at === path.length;
  for (let index = 1; index < last; index++) {
    const part = parts[index] as string;
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const tail = parts[last] as string;
  if (isWhole) return path.length - tail.length >= at && path.endsWith(tail);
  return path.indexOf(tail, at) >= 0;
}

/** Path and query of a URL that is serialised. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return "/";
  const hash = url.indexOf("#", start);
  return hash < 0 ? url.slice(start) : url.slice(start, hash);
}

/** A rule's letters beyond ASCII, and blanks, as a URL has them. */
function encoded(pattern: string): string {
  return pattern.replace(/[^\x21-\x7e]+/g, (some) => {
    try {
      return encodeURIComponent(some);
    } catch {
      return some; // half of a pair: no URL has it
    }
  });
}

/** One spelling for what may be spelled in several ways: RFC 9309, 2.2.2. */
function unified(text: string): string {
  if (!/[%"<>^`{|}]/.test(text)) return text;
  return text.replace(/%([\da-f]{2})|["<>^`{|}]/gi, (whole, hex: string | undefined) => {
    // Of these letters a URL has some as they are, some only in its query.
    if (hex === undefined) return `%${whole.charCodeAt(0).toString(16).toUpperCase()}`;
    const letter = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w.~-]/.test(letter) ? letter : whole.toUpperCase();
  });
}
