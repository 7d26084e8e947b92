/** The last of the C0 controls and the space. */
const BLANK_MAX = 0x20;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the Standard strips C0 controls.
const DEAD_LINK = /^(?:#?[\x00-\x20]*$|javascript\s*[:;]|void\s*\()/i;

/**
 * Whether a link is known to lead nowhere before anything is parsed. Blanks in front are passed over here: two runs of
 * them in one expression would take time that grows with the square of what a page wrote.
 */
export function isDeadLink(href: string): boolean {
  let start = 0;
  while (href.charCodeAt(start) <= BLANK_MAX) start++;
  return DEAD_LINK.test(start === 0 ? href : href.slice(start));
}
