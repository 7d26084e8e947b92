/**
 * A page's directives to crawlers: in meta elements, and in lines of X-Robots-Tag, which may address one crawler by name.
 *
 *   X-Robots-Tag: nofollow, otherbot: noindex, none        nofollow for all; the rest for otherbot, until the line ends
 *   X-Robots-Tag: unavailable_after: Mon, 25 Aug 2025 15:00:00 GMT        the comma after the weekday ends nothing
 */

/** Directives that hold for us. */
export interface RobotsDirectives {
  readonly isNoFollow: boolean;
  readonly isNoIndex: boolean;
  /** The date of `unavailable_after` as it is written. */
  readonly unavailableAfter?: string;
  /** All of them as they are written; empty: none. */
  readonly text: string;
}

/** A crawler's name. Dates and sizes, which have a colon or an equals sign too, do not match. */
const NAME = /^[a-z][\w-]*$/;
/** Directives with a value after their colon. */
const VALUED: ReadonlySet<string> = new Set([
  "unavailable_after",
  "max-snippet",
  "max-image-preview",
  "max-video-preview",
]);
/** Between directives. A weekday is followed by a comma too. */
const COMMA = /(?<!unavailable_after\s*:\s*[a-z]{3,9}),/i;
/** Their values are no directives: `none` may be one. */
const VALUE = /max-(?:snippet|image-preview|video-preview)\s*:\s*[^\s,]*/g;
const UNAVAILABLE = /^\s*unavailable_after\s*:\s*(.*?)\s*$/i;
const LENGTH_MAX = 4_096;

/** The directives in the content of a meta element. Total. */
export function robotsMeta(content: string): RobotsDirectives {
  return directivesOf(content.slice(0, LENGTH_MAX).split(COMMA));
}

/** The directives of X-Robots-Tag lines for the crawler with a product name in lower case. Total. */
export function robotsTag(lines: string | readonly string[], product: string): RobotsDirectives {
  const ours: string[] = [];
  for (const line of typeof lines === "string" ? [lines] : lines) {
    let isOurs = true;
    for (const part of line.slice(0, LENGTH_MAX).split(COMMA)) {
      const colon = part.indexOf(":");
      const name = part.slice(0, Math.max(colon, 0)).trim().toLowerCase();
      const isName = NAME.test(name) && !VALUED.has(name);
      if (isName) isOurs = name === product;
      if (isOurs) ours.push(isName ? part.slice(colon + 1) : part);
    }
  }
  return directivesOf(ours);
}

/** Of several meta elements. */
export function bothDirectives(
  a: RobotsDirectives | undefined,
  b: RobotsDirectives,
): RobotsDirectives {
  if (a === undefined) return b;
  return directivesOf(
    [a.text, b.text]
      .filter((text) => text !== "")
      .join(",")
      .split(COMMA),
  );
}

function directivesOf(parts: readonly string[]): RobotsDirectives {
  const dates = parts.flatMap((part) => UNAVAILABLE.exec(part)?.[1] ?? []);
  const [unavailableAfter] = dates;
  const plain = parts.filter((part) => !UNAVAILABLE.test(part)).join(",");
  const words = plain
    .toLowerCase()
    .replace(VALUE, "")
    .split(/[\s,:]+/);
  const isNone = words.includes("none");
  return {
    isNoFollow: isNone || words.includes("nofollow"),
    isNoIndex: isNone || words.includes("noindex"),
    ...(unavailableAfter === undefined ? {} : { unavailableAfter }),
    text: parts
      .map((part) => part.trim())
      .filter((part) => part !== "")
      .join(", "),
  };
}
