/**
 * Patterns for links: what is followed of all that is in scope.
 *
 *   regex:^https://x/(a|b)/   a regular expression, unanchored, on the whole URL without its fragment
 *   https://x/docs/**         a glob with a scheme: the whole URL
 *   /docs/**                  a glob that begins with a slash: path, and query where the glob has a question mark
 *   *.pdf                     any other glob: the last part of the path, and the query likewise
 *
 *   `*` any letters but a slash, `**` any letters, `{a,b}` one of them; a question mark is itself, as URLs have it
 *
 *   I1  A glob costs at most one pass over the URL for each of its stars: it becomes an expression without nested repetition.
 */
import { misuse } from "../../base/errors.ts";

/** Which links are followed. */
export interface LinkPatterns {
  /** The pattern by which a URL is left out, or `include` where none of those takes it; undefined: it is followed. */
  refusal(url: string): string | undefined;
}

interface Pattern {
  readonly text: string;
  fits(url: URL, href: string): boolean;
}

/** Compiles both lists; throws OPTION_INVALID naming what is no pattern. */
export function compilePatterns(given: {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}): LinkPatterns | undefined {
  const { include = [], exclude = [] } = given;
  if (include.length + exclude.length === 0) return undefined;
  const wanted = include.map((text, at) => patternOf(text, `options.include[${at}]`));
  const unwanted = exclude.map((text, at) => patternOf(text, `options.exclude[${at}]`));
  return {
    refusal(text) {
      if (!URL.canParse(text)) return undefined;
      const url = new URL(text);
      url.hash = "";
      const { href } = url;
      const found = unwanted.find((pattern) => pattern.fits(url, href));
      if (found !== undefined) return `exclude ${found.text}`;
      const isWanted = wanted.length === 0 || wanted.some((pattern) => pattern.fits(url, href));
      return isWanted ? undefined : "include";
    },
  };
}

const REGEX = "regex:";

function patternOf(text: string, name: string): Pattern {
  if (text.startsWith(REGEX)) {
    try {
      const expression = new RegExp(text.slice(REGEX.length), "u");
      return { text, fits: (_, href) => expression.test(href) };
    } catch (cause) {
      throw misuse("OPTION_INVALID", name, text, `a regular expression: ${String(cause)}`);
    }
  }
  if (text === "")
    throw misuse("OPTION_INVALID", name, text, "a glob, or regex: and an expression");
  const expression = new RegExp(`^${expressionOf(text)}$`, "u");
  const hasQuery = text.includes("?");
  if (text.includes("://")) return { text, fits: (_, href) => expression.test(href) };
  const isWhole = text.startsWith("/");
  return {
    text,
    fits({ pathname, search }) {
      const path = isWhole ? pathname : pathname.slice(pathname.lastIndexOf("/") + 1);
      return expression.test(hasQuery ? `${path}${search}` : path);
    },
  };
}

/** A glob as the source of an expression. */
function expressionOf(glob: string): string {
  let depth = 0;
  return (
    glob.replaceAll(/\*{2,}|[\\^$.*+?()[\]{}|/,]/g, (part) => {
      if (part.startsWith("**")) return ".*";
      if (part === "*") return "[^/]*";
      if (part === "{") {
        depth++;
        return "(?:";
      }
      if (part === "}" && depth > 0) {
        depth--;
        return ")";
      }
      if (part === ",") return depth > 0 ? "|" : ",";
      return `\\${part}`;
    }) + ")".repeat(depth)
  );
}
