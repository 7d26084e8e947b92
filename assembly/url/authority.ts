/**
 * `[user[:password]@]host[:port]` of a URL that is not serialised yet.
 *
 *   user ':' password '@' host ':' port
 *                      └─ the last '@' counts; ':' of the host is the first one after it
 */
import {
  BATCH_FLAG_ADDRESS,
  BATCH_FLAG_HTTPS,
  BATCH_FLAG_USERINFO,
  BATCH_INVALID,
  BATCH_NEEDS_PARSER,
  ROW_FLAGS_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_PATH_START_WORD,
  ROW_PORT_START_WORD,
} from "../../src/layout/calls/url-batch";
import {
  ENCODE_USERINFO,
  HOST_FORBIDDEN,
  HTTPS_WORD,
  HTTP_WORD,
  SLASHES_WORD,
  classesOf,
  isDigit,
  lowerCase,
  writeEncoded,
} from "./byte-classes";
import { HOST_ADDRESS, HOST_HARD, isPlainHost, judgeHost } from "./host-kind";
import { addFlags, get, set, stop } from "../batch-row";

/**
 * Writes scheme and authority at the row's href and sets their ranges; `host` stands behind the
 * last `@` or is `at`. Returns the end, or 0.
 */
export function writeAuthority(row: usize, at: usize, host: usize, end: usize): usize {
  const href = <usize>get(row, ROW_HREF_OFFSET_WORD);
  const isHttps = (get(row, ROW_FLAGS_WORD) & BATCH_FLAG_HTTPS) !== 0;
  let out = writeScheme(href, isHttps);
  if (host !== at) out = writeUserinfo(row, at, host - 1, out);
  const hostStart = <u32>(out - href);
  set(row, ROW_HOST_START_WORD, hostStart);
  out = writeHost(row, host, end, out);
  if (out === 0) return 0;
  const length = <usize>(<u32>(out - href) - hostStart); // a host is written byte for byte
  set(row, ROW_PORT_START_WORD, <u32>(out - href));
  out = writePort(row, host + length, end, out);
  if (out === 0) return 0;
  set(row, ROW_PATH_START_WORD, <u32>(out - href));
  set(row, ROW_HOST_LENGTH_WORD, <u32>(out - href) - hostStart);
  return out;
}

function writeScheme(out: usize, isHttps: bool): usize {
  store<u32>(out, HTTP_WORD);
  store<u32>(out + 4, isHttps ? HTTPS_WORD : SLASHES_WORD);
  return out + (isHttps ? 8 : 7);
}

/** [at, end) stands before the `@`; nothing is written when both parts are empty. */
function writeUserinfo(row: usize, at: usize, end: usize, out: usize): usize {
  let colon = at;
  while (colon < end && load<u8>(colon) !== 0x3a) colon++;
  const hasPassword = end - colon > 1;
  if (colon === at && !hasPassword) return out;
  addFlags(row, ROW_FLAGS_WORD, BATCH_FLAG_USERINFO);
  out = writeEncoded(at, colon, out, ENCODE_USERINFO);
  if (hasPassword) {
    store<u8>(out++, 0x3a);
    out = writeEncoded(colon + 1, end, out, ENCODE_USERINFO);
  }
  store<u8>(out++, 0x40);
  return out;
}

/** The host of [at, end), up to its colon if there is one. */
function writeHost(row: usize, at: usize, end: usize, out: usize): usize {
  const start = out;
  let isForbidden = false;
  for (; at < end; at++) {
    const byte = <u32>load<u8>(at);
    if ((classesOf(byte) & HOST_FORBIDDEN) !== 0) {
      if (byte === 0x3a) break;
      if (byte === 0x25 || byte === 0x5b || byte >= 0x80) return stop(row, BATCH_NEEDS_PARSER);
      isForbidden = true;
    }
    store<u8>(out++, lowerCase(byte));
  }
  if (isForbidden || out === start) return stop(row, BATCH_INVALID);
  if (!isPlainHost(start, out)) {
    const judged = judgeHost(start, out);
    if (judged === HOST_HARD) return stop(row, BATCH_NEEDS_PARSER);
    if (judged === HOST_ADDRESS) addFlags(row, ROW_FLAGS_WORD, BATCH_FLAG_ADDRESS);
  }
  return out;
}

/** [at, end) is empty or a colon and what follows it. The default port is not written. */
function writePort(row: usize, at: usize, end: usize, out: usize): usize {
  let port: u32 = 0;
  let i = at + 1;
  for (; i < end; i++) {
    if (!isDigit(load<u8>(i))) return stop(row, BATCH_INVALID);
    port = port * 10 + (load<u8>(i) - 0x30);
    if (port > 65535) return stop(row, BATCH_INVALID);
  }
  const isHttps = (get(row, ROW_FLAGS_WORD) & BATCH_FLAG_HTTPS) !== 0;
  if (end - at < 2 || port === (isHttps ? 443 : 80)) return out;
  store<u8>(out++, 0x3a);
  return writeDecimal(out, port);
}

function writeDecimal(out: usize, value: u32): usize {
  let unit: u32 = 10000;
  while (unit > 1 && value < unit) unit /= 10;
  for (; unit > 0; unit /= 10) store<u8>(out++, 0x30 + ((value / unit) % 10));
  return out;
}
