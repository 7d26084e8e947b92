/**
 * Drops an unrequested `100 Continue` from the bytes that a connection reads. A client must ignore interim answers (RFC 9110,
 * 15.2). undici ignores all others, but treats this one as a broken connection.
 *
 *   written ─▶ fresh ─▶ bytes that begin "HTTP/1.x 100" ─▶ held to their blank line ─▶ dropped ─┐
 *                ▲                      └─ any other ─▶ passed on unchanged until the next write  │
 *                └───────────────────────────────────────────────────────────────────────────────┘
 *
 *   I1  Only bytes before an answer are inspected, never a byte of one: one request at a time is on a connection.
 *   I2  At most HELD_BYTES_MAX are held; a longer one is passed on unchanged.
 */
import type { Socket } from "node:net";

const BEGINNING = "HTTP/1.x 100";
/** Index of the letter that may be any digit. */
const MINOR_AT = BEGINNING.indexOf("x");
const BLANK_LINE = "\r\n\r\n";
const HELD_BYTES_MAX = 8 * 1024;

/** Patches a socket of HTTP/1 to drop them; leaves one of HTTP/2 unchanged. */
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

/** The bytes after it; undefined while its end has not arrived. */
function afterContinue(bytes: Buffer): Buffer | undefined {
  let rest = bytes;
  while (isContinue(rest)) {
    const end = rest.indexOf(BLANK_LINE);
    if (end < 0) return rest.length > HELD_BYTES_MAX ? rest : undefined;
    rest = rest.subarray(end + BLANK_LINE.length);
  }
  return rest;
}

/** Whether the bytes, as far as they go, begin like one. */
function isContinue(bytes: Buffer): boolean {
  const count = Math.min(bytes.length, BEGINNING.length);
  for (let at = 0; at < count; at++) {
    if (at !== MINOR_AT && bytes[at] !== BEGINNING.charCodeAt(at)) return false;
  }
  return count > 0;
}
