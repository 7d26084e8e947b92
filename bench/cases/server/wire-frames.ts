/**
 * Wire frames: HTTP/2 as a client of gRPC writes it, made before the clock runs, and the one thing of a header block that such a client needs:
 * whether `grpc-status` is 0.
 *
 *   frame = length (3 bytes), type, flags, stream (4 bytes), payload
 *   DATA of a message = 0, its length (4 bytes), the message: one frame each, as gRPC's own clients write them
 */

export const DATA = 0;
export const HEADERS = 1;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const END_STREAM = 1;
export const ACK = 1;
export const END_HEADERS = 4;
export const FRAME_HEAD_BYTES = 9;
export const MESSAGE_HEAD_BYTES = 5;
export const SETTING_STREAMS_MAX = 3;
export const SETTING_INITIAL_WINDOW = 4;
/** What a frame may hold where the other side has not allowed more. */
const PAYLOAD_BYTES_MAX = 16_384;

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export function writeFrameHead(
  bytes: Buffer,
  at: number,
  { type, flags, stream, length }: { type: number; flags: number; stream: number; length: number },
): void {
  bytes.writeUIntBE(length, at, 3);
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  bytes.writeUInt32BE(stream, at + 5);
}

export function frameOf(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const { length } = payload;
  const bytes = Buffer.alloc(FRAME_HEAD_BYTES + length);
  writeFrameHead(bytes, 0, { type, flags, stream, length });
  payload.copy(bytes, FRAME_HEAD_BYTES);
  return bytes;
}

export function windowUpdate(stream: number, size: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(size);
  return frameOf(WINDOW_UPDATE, 0, stream, payload);
}

/** What a connection begins with: how much each stream, and all of them together, may send unread. */
export function opening(streamWindow: number, windowMore: number): Buffer {
  const settings = Buffer.alloc(12);
  settings.writeUInt16BE(2, 0); // no pushes
  settings.writeUInt16BE(SETTING_INITIAL_WINDOW, 6);
  settings.writeUInt32BE(streamWindow, 8);
  return Buffer.concat([PREFACE, frameOf(SETTINGS, 0, 0, settings), windowUpdate(0, windowMore)]);
}

/** A field whose name is none of the static table; all texts are shorter than 127 bytes. */
function literal(name: number | string, value: string): Buffer {
  const named = typeof name === "number" ? [Buffer.from([name])] : [Buffer.from([0]), text(name)];
  return Buffer.concat([...named, text(value)]);
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
}

/** POST and http stand in the static table, as do the names of path and authority. */
export function requestHeaders(path: string, authority: string): Buffer {
  return Buffer.concat([
    Buffer.from([0x83, 0x86]),
    literal(4, path),
    literal(1, authority),
    literal("te", "trailers"),
    literal("content-type", "application/grpc"),
  ]);
}

/** All frames of one stream, and where each of them ends. */
export interface StreamFrames {
  readonly stream: number;
  readonly bytes: Buffer;
  readonly ends: Uint32Array;
}

/** A call that sends these messages: its headers, a frame for each, the last of which ends the stream. */
export function streamFrames(
  stream: number,
  headers: Buffer,
  messages: readonly Buffer[],
): StreamFrames {
  const ends = new Uint32Array(messages.length + 1);
  let size = FRAME_HEAD_BYTES + headers.length;
  ends[0] = size;
  for (const [index, { length }] of messages.entries()) {
    size += FRAME_HEAD_BYTES + MESSAGE_HEAD_BYTES + length;
    ends[index + 1] = size;
  }
  const bytes = Buffer.alloc(size);
  frameOf(HEADERS, END_HEADERS, stream, headers).copy(bytes);
  for (const [index, message] of messages.entries()) {
    const at = ends[index] as number;
    const length = MESSAGE_HEAD_BYTES + message.length;
    if (length > PAYLOAD_BYTES_MAX) throw new Error(`message: ${length} bytes`);
    const flags = index === messages.length - 1 ? END_STREAM : 0;
    writeFrameHead(bytes, at, { type: DATA, flags, stream, length });
    bytes.writeUInt32BE(message.length, at + FRAME_HEAD_BYTES + 1);
    message.copy(bytes, at + FRAME_HEAD_BYTES + MESSAGE_HEAD_BYTES);
  }
  return { stream, bytes, ends };
}

/** What a field is: any, `grpc-status` with another value, `grpc-status: 0`. */
const OTHER = 0;
const STATUS = 1;
const STATUS_OK = 2;
const STATIC_FIELDS = 61;
const STATUS_NAME = "grpc-status";
/** The same in HPACK's code of Huffman's, and so the digit 0. */
const STATUS_NAME_PACKED = Buffer.from("9acac8b21234da8f", "hex");
const ZERO = 0x30;
const ZERO_PACKED = 0x07;

/** Reads the header blocks of one connection, all of them in their order: later ones refer to fields of earlier ones. */
export class StatusReader {
  /** The fields that the server may refer to, the oldest first; those that it has dropped are never meant. */
  readonly #fields: number[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  /** Whether a block has `grpc-status: 0`. */
  isOk(bytes: Buffer, start: number, end: number): boolean {
    this.#bytes = bytes;
    this.#at = start;
    let isOk = false;
    while (this.#at < end) if (this.#field() === STATUS_OK) isOk = true;
    return isOk;
  }

  #field(): number {
    const first = this.#bytes[this.#at] as number;
    if (first >= 0x80) return this.#known(this.#number(7));
    if (first >= 0x20 && first < 0x40) {
      this.#number(5); // the size of the table
      return OTHER;
    }
    const isKept = first >= 0x40;
    const index = this.#number(isKept ? 6 : 4);
    const isStatus = index === 0 ? this.#isStatusName() : this.#known(index) !== OTHER;
    const isZero = this.#isZero();
    const field = isStatus ? (isZero ? STATUS_OK : STATUS) : OTHER;
    if (isKept) this.#fields.push(field);
    return field;
  }

  #known(index: number): number {
    return index <= STATIC_FIELDS ? OTHER : (this.#fields.at(STATIC_FIELDS - index) as number);
  }

  #number(bits: number): number {
    const most = (1 << bits) - 1;
    let value = (this.#bytes[this.#at++] as number) & most;
    if (value < most) return value;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++] as number;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  #isStatusName(): boolean {
    const isPacked = (this.#bytes[this.#at] as number) >= 0x80;
    const length = this.#number(7);
    const start = this.#at;
    this.#at += length;
    if (length !== (isPacked ? STATUS_NAME_PACKED.length : STATUS_NAME.length)) return false;
    if (!isPacked) return this.#bytes.latin1Slice(start, this.#at) === STATUS_NAME;
    return STATUS_NAME_PACKED.compare(this.#bytes, start, this.#at) === 0;
  }

  #isZero(): boolean {
    const isPacked = (this.#bytes[this.#at] as number) >= 0x80;
    const length = this.#number(7);
    const start = this.#at;
    this.#at += length;
    return length === 1 && this.#bytes[start] === (isPacked ? ZERO_PACKED : ZERO);
  }
}
