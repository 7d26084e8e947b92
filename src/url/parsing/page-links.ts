/** The last of the C0 controls and the space. */
const BLANK_MAX = 0x20;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the Standard strips C0 controls.
const DEAD_LINK = /^(?:#?[\x00-\x20]*$|javascript\s*[:;]|void\s*\()/i;

/**
 * Whether a link is known to be useless without parsing it. Leading blanks are skipped here: two runs of them in one expression
 * would take time that grows with the square of their length.
 */
export function isDeadLink(href: string): boolean {
  let start = 0;
  while (href.charCodeAt(start) <= BLANK_MAX) start++;
  return DEAD_LINK.test(start === 0 ? href : href.slice(start));
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * A link of a page as an absolute URL. A link that has a scheme, is useless or cannot be resolved is returned unchanged; pushing it leads
 * to its verdict.
 */
export function absoluteLink(link: string, base: string): string {
  if (link.startsWith("https://") || link.startsWith("http://")) return link;
  if (SCHEME.test(link.trimStart()) || isDeadLink(link)) return link;
  try {
    return new URL(link, base).href;
  } catch {
    return link;
  }
}

/** The absolute URLs of a list of links; returns the same list if all are absolute already. */
export function absoluteLinks(links: readonly string[], base: string): readonly string[] {
  for (let at = 0; at < links.length; at++) {
    const link = links[at] as string;
    if (link.startsWith("https://") || link.startsWith("http://")) continue;
    return links.map((each) => absoluteLink(each, base));
  }
  return links;
}
