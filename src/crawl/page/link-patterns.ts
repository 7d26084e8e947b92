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
 *   I1  Neither runs without end on a URL that was made for it (base/pattern).
 */
import { misuse } from "../../base/errors.ts";
import { compileUrlPattern, type UrlPattern } from "../../base/pattern/url-pattern.ts";

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
    const expression = expressionOf(text.slice(REGEX.length), name, text);
    return { text, fits: (_, href) => expression.test(href) };
  }
  if (text === "")
    throw misuse("OPTION_INVALID", name, text, "a glob, or regex: and an expression");
  const expression = expressionOf(`^${sourceOf(text)}$`, name, text);
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

function expressionOf(source: string, name: string, text: string): UrlPattern {
  try {
    const compiled = compileUrlPattern(source, "u");
    if (typeof compiled !== "string") return compiled;
    throw misuse("OPTION_INVALID", name, text, compiled);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw misuse("OPTION_INVALID", name, text, `a regular expression: ${String(cause)}`);
  }
}

/** A glob as the source of an expression. */
function sourceOf(glob: string): string {
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
