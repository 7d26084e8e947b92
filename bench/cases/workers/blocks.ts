/**
 * Blocks of URLs as the sides of `lane` send them: count, a length each, the text. One write of text a block.
 *
 *   word 0 count · count words of length · text (latin1)
 */
const HEAD_BYTES = 4;

export function blockBytes(urls: readonly string[]): number {
  let size = HEAD_BYTES + urls.length * 4;
  for (const url of urls) size += url.length;
  return size;
}

/** Writes a block at `start`, a multiple of 4. */
export function writeBlock(
  bytes: Buffer,
  words: Int32Array,
  start: number,
  urls: readonly string[],
): void {
  let text = "";
  let word = start >>> 2;
  words[word++] = urls.length;
  for (const url of urls) {
    text += url;
    words[word++] = url.length;
  }
  bytes.latin1Write(text, word << 2, text.length);
}

/** What a consumer adds up of what it got: every URL is made a string and looked at. */
export interface Sum {
  count: number;
  bytes: number;
  mixed: number;
}

export function addUrl(sum: Sum, url: string): void {
  sum.count++;
  sum.bytes += url.length;
  sum.mixed = (Math.imul(sum.mixed, 31) + url.charCodeAt(url.length - 1)) | 0;
}

export function readBlock(bytes: Buffer, start: number, size: number, sum: Sum): void {
  const count = bytes.readInt32LE(start);
  const textAt = start + HEAD_BYTES + count * 4;
  const text = bytes.latin1Slice(textAt, start + size);
  let at = 0;
  for (let row = 0; row < count; row++) {
    const length = bytes.readInt32LE(start + HEAD_BYTES + row * 4);
    addUrl(sum, text.substring(at, at + length));
    at += length;
  }
}
