/**
 * Detects the encoding of a page: byte order mark, then the Content-Type header, then a meta element, then UTF-8 if the bytes are
 * valid, else windows-1252, as in browsers. Browsers search the first kilobyte for the element and start again when it comes later;
 * here the search covers PRESCAN_BYTES at once, without comments.
 */

const PRESCAN_BYTES = 64 * 1024;
const SNIFF_BYTES = 16 * 1024;
/** Longer than any meta element with an encoding; bounds the cost of unclosed ones. */
const META_LETTERS_MAX = 1_024;
/** The name after `charset=`. No two runs of blanks are adjacent: those would take quadratic time. */
const CHARSET = /charset\s*=\s*(?:["']\s*)?([a-z0-9_.:-]+)/i;
const DECLARED_CHARSET = /charset\s*=\s*(?:["']\s*)?([^"';\s]+)/i;

/** The label of an encoding that this platform decodes. Total. */
export function detectCharset(body: Uint8Array, contentType: string): string {
  const marked = markOf(body);
  if (marked !== undefined) return marked;
  const declared = known(DECLARED_CHARSET.exec(contentType)?.[1]);
  if (declared !== undefined) return declared;
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, PRESCAN_BYTES));
  const meta = metaOf(head.latin1Slice());
  // A page that declares UTF-16 in single-byte letters cannot be UTF-16.
  if (meta !== undefined) return meta.startsWith("utf-16") ? "utf-8" : meta;
  return isUtf8(body) ? "utf-8" : "windows-1252";
}

/** The encoding named by the first meta element that names a supported one. */
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
    const named = known(CHARSET.exec(tag)?.[1]);
    if (named !== undefined) return named;
  }
  return undefined;
}

function markOf(body: Uint8Array): string | undefined {
  const [a, b, c] = body;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : undefined;
}

/** The platform's name for a label, if it supports the encoding. */
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
    // The beginning decides; a character cut off at its end is no fault.
    new TextDecoder("utf-8", { fatal: true }).decode(body.subarray(0, SNIFF_BYTES), {
      stream: true,
    });
    return true;
  } catch {
    return false;
  }
}
