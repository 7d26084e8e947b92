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

/** Whether it begins with http:// or https://. Letter by letter, since startsWith is a call. @hot */
function isWebLink(link: string): boolean {
  if (link.charCodeAt(0) !== 0x68 || link.charCodeAt(1) !== 0x74) return false;
  if (link.charCodeAt(2) !== 0x74 || link.charCodeAt(3) !== 0x70) return false;
  const at = link.charCodeAt(4) === 0x73 ? 5 : 4;
  return (
    link.charCodeAt(at) === 0x3a &&
    link.charCodeAt(at + 1) === 0x2f &&
    link.charCodeAt(at + 2) === 0x2f
  );
}

/**
 * A link of a page as an absolute URL. A link that has a scheme, is useless or cannot be resolved is returned unchanged; pushing it leads
 * to its verdict.
 */
export function absoluteLink(link: string, base: string): string {
  if (isWebLink(link)) return link;
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
    if (!isWebLink(links[at] as string)) return links.map((each) => absoluteLink(each, base));
  }
  return links;
}
