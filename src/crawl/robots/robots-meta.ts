/**
 * A page's directives to crawlers: in meta elements, and in lines of X-Robots-Tag, which may address one crawler by name.
 *
 *   X-Robots-Tag: nofollow, otherbot: noindex, none        nofollow for all; the rest for otherbot, until the line ends
 */

interface RobotsMeta {
  readonly isNoFollow: boolean;
  readonly isNoIndex: boolean;
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

/** The directives in the content of a meta element. Total. */
export function robotsMeta(content: string): RobotsMeta {
  const words = content.toLowerCase().split(/[\s,:]+/);
  const isNone = words.includes("none");
  return {
    isNoFollow: isNone || words.includes("nofollow"),
    isNoIndex: isNone || words.includes("noindex"),
  };
}

/** The directives of X-Robots-Tag lines for the crawler with a product name in lower case. Total. */
export function robotsTag(lines: string | readonly string[], product: string): RobotsMeta {
  const ours: string[] = [];
  for (const line of typeof lines === "string" ? [lines] : lines) {
    let isOurs = true;
    for (const part of line.toLowerCase().split(",")) {
      const colon = part.indexOf(":");
      const name = part.slice(0, Math.max(colon, 0)).trim();
      const isName = NAME.test(name) && !VALUED.has(name);
      if (isName) isOurs = name === product;
      if (isOurs) ours.push(isName ? part.slice(colon + 1) : part);
    }
  }
  return robotsMeta(ours.join(","));
}
