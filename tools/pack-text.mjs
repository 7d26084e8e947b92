/**
 * A long text in the package: Brotli makes it a sixth to a half shorter than what packs the package, which reads no further back
 * than 32 KiB. It is put back with the first call of what it belongs to, in about a millisecond.
 */
import { brotliCompressSync, constants } from "node:zlib";

/** The source of an expression that is the text, where `zlib` is the source of Node's module. */
export function packText(text, zlib) {
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
  };
  const packed = brotliCompressSync(text, { params }).toString("base64");
  return `${zlib}.brotliDecompressSync(Buffer.from("${packed}","base64")).toString()`;
}
