/**
 * Which characters the bytes of a page are: byte order mark, then the Content-Type header, then a meta element, then UTF-8
 * where the bytes are that, else windows-1252, as browsers have it. They look for the element in the first kilobyte and turn round when
 * it stands further down; here it is looked for at once as far as PRESCAN_BYTES, comments left out.
 */

const PRESCAN_BYTES = 64 * 1024;
const SNIFF_BYTES = 16 * 1024;
/** No meta element that says something is longer; a look at each bounds what unclosed ones cost. */
const META_LETTERS_MAX = 1_024;
/** The name behind `charset=`. No two runs of blanks stand side by side: those would take time with the square of them. */
const CHARSET = /charset\s*=\s*(?:["']\s*)?([a-z0-9_.:-]+)/i;
const DECLARED_CHARSET = /charset\s*=\s*(?:["']\s*)?([^"';\s]+)/i;

/** The label of an encoding that this platform decodes. Total. */
export function detectCharset(body: Uint8Array, contentType: string): string {
  const marked = markOf(body);
  if (marked !== undefined) return marked;
  const told = known(DECLARED_CHARSET.exec(contentType)?.[1]);
  if (told !== undefined) return told;
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, PRESCAN_BYTES));
  const meta = metaOf(head.latin1Slice());
  // A page that says UTF-16 in letters of one byte each does not mean it.
  if (meta !== undefined) return meta.startsWith("utf-16") ? "utf-8" : meta;
  return isUtf8(body) ? "utf-8" : "windows-1252";
}

/** What the first meta element says that names an encoding we know. */
function metaOf(head: string): string | undefined {
  const marks = /<!--|<meta/gi;
  for (let mark = marks.exec(head); mark !== null; mark = marks.exec(head)) {
    const { index: at } = mark;
    if (mark[0] === "<!--") {
      const end = head.indexOf("-->", at + 2);
      if (end < 0) return undefined;
      marks.lastIndex = end;
      continue;
    }
    const tag = head.slice(at, at + META_LETTERS_MAX).split(">", 1)[0] as string;
    const said = known(CHARSET.exec(tag)?.[1]);
    if (said !== undefined) return said;
  }
  return undefined;
}

function markOf(body: Uint8Array): string | undefined {
  const [a, b, c] = body;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : undefined;
}

/** The platform's name for a label, if it knows one. */
function known(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function isUtf8(body: Uint8Array): boolean {
  try {
    // The beginning decides; a character that the cut went through is no fault.
    new TextDecoder("utf-8", { fatal: true }).decode(body.subarray(0, SNIFF_BYTES), {
      stream: true,
    });
    return true;
  } catch {
    return false;
  }
}
