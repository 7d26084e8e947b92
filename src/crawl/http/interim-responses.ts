/**
 * `100 Continue` that nobody asked for, taken out of what a connection reads: a client has to pass over interim answers (RFC 9110,
 * 15.2), and undici, which passes over all others, takes this one for a broken connection.
 *
 *   written ─▶ fresh ─▶ bytes that begin "HTTP/1.x 100" ─▶ held to their blank line ─▶ dropped ─┐
 *                ▲                      └─ any other ─▶ read as they are until the next write    │
 *                └───────────────────────────────────────────────────────────────────────────────┘
 *
 *   I1  Only what stands before an answer is looked at, never a byte of one: one request at a time is on a connection.
 *   I2  At most HELD_BYTES_MAX are held; what is longer is read as it is.
 */
import type { Socket } from "node:net";

const BEGINNING = "HTTP/1.x 100";
/** The letter of it that may be any. */
const MINOR_AT = BEGINNING.indexOf("x");
const BLANK_LINE = "\r\n\r\n";
const HELD_BYTES_MAX = 8 * 1024;

/** Makes a socket of HTTP/1 read without them; leaves one of HTTP/2 as it is. */
export function dropContinue(socket: Socket): void {
  if ((socket as { alpnProtocol?: unknown }).alpnProtocol === "h2") return;
  const { read, write } = socket;
  let isFresh = false;
  let held: Buffer | undefined;
  socket.write = ((...args: Parameters<typeof write>) => {
    isFresh = true;
    return write.apply(socket, args);
  }) as typeof write;
  socket.read = (size) => {
    for (;;) {
      const chunk = read.call(socket, size) as Buffer | null;
      if (chunk === null || !isFresh) return chunk;
      const bytes = held === undefined ? chunk : Buffer.concat([held, chunk]);
      const rest = afterContinue(bytes);
      held = rest === undefined ? bytes : undefined;
      if (rest === undefined) continue;
      if (rest.length === 0) continue;
      isFresh = false;
      return rest;
    }
  };
}

/** What stands behind; undefined: it is not known yet. */
function afterContinue(bytes: Buffer): Buffer | undefined {
  let rest = bytes;
  while (isContinue(rest)) {
    const end = rest.indexOf(BLANK_LINE);
    if (end < 0) return rest.length > HELD_BYTES_MAX ? rest : undefined;
    rest = rest.subarray(end + BLANK_LINE.length);
  }
  return rest;
}

/** Whether it begins like one, as far as it goes. */
function isContinue(bytes: Buffer): boolean {
  const count = Math.min(bytes.length, BEGINNING.length);
  for (let at = 0; at < count; at++) {
    if (at !== MINOR_AT && bytes[at] !== BEGINNING.charCodeAt(at)) return false;
  }
  return count > 0;
}
