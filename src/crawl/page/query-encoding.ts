/**
 * Letters in the query of a link, as a browser sends them: in the encoding of the page, unless that is a Unicode encoding. Paths are
 * always UTF-8.
 *
 *   windows-1251, ?q=привет  ─▶  ?q=%EF%F0%E8%E2%E5%F2          a letter that the encoding lacks: %26%23 its number %3B
 *
 * The platform decodes every encoding but encodes only UTF-8, so a table is made once for each encoding by decoding all values of one
 * byte, or two: some 10 ms and 24,000 letters for the largest. A letter of three bytes or more, or one that needs a state, is treated as
 * one that the encoding lacks. ISO-2022-JP stays in UTF-8.
 */

/** Code point ─▶ its bytes, percent-encoded. */
type Letters = ReadonlyMap<number, string>;

const UNICODE = /^(utf-8|utf-16le|utf-16be|iso-2022-jp)$/;
const TWO_BYTES = /^(shift_jis|euc-jp|euc-kr|gbk|gb18030|big5)$/;
const LETTERS = /[\u0080-\uffff]/;
const NEWLINE = 10;
const UNKNOWN = 0xfffd;

const tables = new Map<string, Letters>();

/** The same links with their queries in the bytes of the page's encoding. */
export function encodeQueries(hrefs: Iterable<string>, charset: string): Iterable<string> {
  if (UNICODE.test(charset)) return hrefs;
  return Array.from(hrefs, (href) => encodeOne(href, charset));
}

function encodeOne(href: string, charset: string): string {
  const start = href.indexOf("?");
  if (start < 0) return href;
  const hash = href.indexOf("#", start);
  const end = hash < 0 ? href.length : hash;
  const query = href.slice(start, end);
  if (!LETTERS.test(query)) return href;
  const letters = lettersOf(charset);
  let sent = "";
  for (const letter of query) {
    const point = letter.codePointAt(0) as number;
    sent += point < 0x80 ? letter : (letters.get(point) ?? `%26%23${point}%3B`);
  }
  return href.slice(0, start) + sent + href.slice(end);
}

function lettersOf(charset: string): Letters {
  let letters = tables.get(charset);
  if (letters === undefined) {
    letters = makeLetters(charset);
    tables.set(charset, letters);
  }
  return letters;
}

function makeLetters(charset: string): Letters {
  const letters = new Map<number, string>();
  const spellings: number[][] = [];
  for (let byte = 0x80; byte <= 0xff; byte++) spellings.push([byte]);
  if (TWO_BYTES.test(charset)) {
    for (let lead = 0x81; lead <= 0xfe; lead++)
      for (let trail = 0x40; trail <= 0xfe; trail++) spellings.push([lead, trail]);
  }
  const bytes = Uint8Array.from(spellings.flatMap((spelling) => [...spelling, NEWLINE]));
  const texts = new TextDecoder(charset).decode(bytes).split("\n");
  spellings.forEach((spelling, at) => {
    const text = texts[at] ?? "";
    const point = text.codePointAt(0) ?? UNKNOWN;
    const isOne = text.length === String.fromCodePoint(point).length;
    if (!isOne || point === UNKNOWN || point < 0x80 || letters.has(point)) return;
    letters.set(point, spelling.map((byte) => `%${hexOf(byte)}`).join(""));
  });
  return letters;
}

function hexOf(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, "0");
}
