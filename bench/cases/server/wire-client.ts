/**
 * WireClient: a client of gRPC over one connection that costs next to nothing, so that what is measured is the server.
 *
 *   before the clock    prepare ─▶ all frames of all calls, one object a stream
 *   under the clock     frames, as far as the server's windows let them ─▶ socket ─▶ server
 *                       heads of frames and of messages are read in one buffer ◀─ socket ◀─ server
 *
 *   I1  What is prepared is run in that order, one after the other: streams of HTTP/2 begin in the order of their numbers.
 *   I2  No frame is sent that the window of its stream or of the connection has no room for.
 *   I3  No more streams are open than the server allows: a call waits for its turn, under the clock.
 *   I4  A stream that ends without `grpc-status: 0`, or within a message, fails the run.
 */
import { connect, type Socket } from "node:net";
import type { Histogram } from "hdr-histogram-js";
import { nowNs } from "../../harness/case.ts";
import { recordNs } from "../../harness/histogram.ts";
import {
  ACK,
  DATA,
  END_HEADERS,
  END_STREAM,
  FRAME_HEAD_BYTES,
  frameOf,
  GOAWAY,
  HEADERS,
  MESSAGE_HEAD_BYTES,
  opening,
  PING,
  requestHeaders,
  RST_STREAM,
  SETTING_INITIAL_WINDOW,
  SETTING_STREAMS_MAX,
  SETTINGS,
  StatusReader,
  streamFrames,
  type StreamFrames,
  WINDOW_UPDATE,
  windowUpdate,
} from "./wire-frames.ts";

const WINDOW_DEFAULT = 65_535;
/** Bytes that each stream, and the connection, may bring unacknowledged. They are acknowledged at half of that. */
const STREAM_WINDOW = 1 << 20;
const CONNECTION_WINDOW = 1 << 24;
/** One read of the socket, and the largest frame that waits for its rest. */
const READ_BYTES = 1 << 18;
/** A stream sends so much, then the next one does. */
const TURN_BYTES = 16_384;

interface Stream {
  readonly frames: StreamFrames;
  /** The next frame that is sent. */
  next: number;
  /** Bytes that the server takes. */
  window: number;
  /** Bytes that came since the server was last allowed more. */
  unread: number;
  /** Messages that came. */
  count: number;
  /** Bytes of the head, and of the body, of the message that is under way: those that were read, those that are missing. */
  headRead: number;
  length: number;
  bodyLeft: number;
}

/** Calls that are ready to be made. */
export type Prepared = readonly Stream[];

export class WireClient {
  readonly #socket: Socket;
  readonly #authority: string;
  readonly #status = new StatusReader();
  readonly #inbox = Buffer.alloc(4 * READ_BYTES);
  #inboxEnd = 0;
  /** By half of their number. */
  readonly #streams: Array<Stream | undefined> = [];
  #streamNext = 1;
  #window = WINDOW_DEFAULT;
  #windowOfStreams = WINDOW_DEFAULT;
  #unread = 0;
  #streamsMax = Number.POSITIVE_INFINITY;
  #open = 0;
  /** Calls that were made and wait until another one ends. */
  readonly #waiting: Stream[] = [];
  /** Streams that have more to send. */
  #sending: Stream[] = [];
  #onEnd: (stream: Stream) => void = () => undefined;
  #onFault: (cause: Error) => void = () => undefined;

  private constructor(port: number) {
    this.#authority = `127.0.0.1:${port}`;
    const buffer = Buffer.alloc(READ_BYTES);
    const callback = (count: number): boolean => {
      this.#read(buffer, count);
      return true;
    };
    this.#socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      onread: { buffer, callback },
    });
    this.#socket.on("drain", () => this.#send());
    this.#socket.on("error", (cause) => this.#onFault(cause));
    this.#socket.on("close", () =>
      this.#onFault(new Error("the server has closed the connection")),
    );
    this.#socket.write(opening(STREAM_WINDOW, CONNECTION_WINDOW - WINDOW_DEFAULT));
  }

  static open(port: number): Promise<WireClient> {
    return new Promise((resolve, reject) => {
      const client = new WireClient(port);
      client.#onFault = reject;
      client.#socket.once("connect", () => resolve(client));
    });
  }

  close(): void {
    this.#onFault = () => undefined;
    this.#socket.destroy();
  }

  /** A call of a method for each list of messages. */
  prepare(method: string, calls: readonly (readonly Buffer[])[]): Prepared {
    const headers = requestHeaders(`/urlfrontier.URLFrontier/${method}`, this.#authority);
    return calls.map((messages) => {
      const stream: Stream = {
        frames: streamFrames(this.#streamNext, headers, messages),
        ...{ next: 0, window: WINDOW_DEFAULT, unread: 0, count: 0 },
        ...{ headRead: 0, length: 0, bodyLeft: 0 },
      };
      this.#streams[this.#streamNext >> 1] = stream;
      this.#streamNext += 2;
      return stream;
    });
  }

  /** All calls at the same time; how many messages came back. */
  async together(calls: Prepared): Promise<number> {
    let left = calls.length;
    await this.#run((done) => {
      this.#onEnd = () => --left === 0 && done();
      this.#start(...calls);
    });
    return messagesOf(calls);
  }

  /** So many at the same time, each followed by the next one; how many messages came back. */
  async inTurn(calls: Prepared, together: number, histogram: Histogram): Promise<number> {
    const startsNs = new Float64Array(calls.length);
    const first = calls[0]?.frames.stream ?? 0;
    let [made, ended] = [0, 0];
    const makeNext = (): void => {
      if (made === calls.length) return;
      startsNs[made] = nowNs();
      this.#start(calls[made++] as Stream);
    };
    await this.#run((done) => {
      this.#onEnd = ({ frames }) => {
        recordNs(histogram, nowNs() - (startsNs[(frames.stream - first) >> 1] as number));
        makeNext();
        if (++ended === calls.length) done();
      };
      for (let count = 0; count < together; count++) makeNext();
    });
    return messagesOf(calls);
  }

  /**
   * One every `everyNs`, whether the last one is answered or not; each is timed from when it was due, but for the first ones. How many
   * messages came back.
   */
  async onTime(
    calls: Prepared,
    { everyNs, untimed }: { everyNs: number; untimed: number },
    histogram: Histogram,
  ): Promise<number> {
    const startNs = nowNs();
    const first = calls[0]?.frames.stream ?? 0;
    let ended = 0;
    let made = 0;
    await this.#run((done) => {
      this.#onEnd = ({ frames }) => {
        const call = (frames.stream - first) >> 1;
        if (call >= untimed) recordNs(histogram, nowNs() - startNs - call * everyNs);
        if (++ended === calls.length) done();
      };
      const turn = (): void => {
        while (made < calls.length && nowNs() >= startNs + made * everyNs)
          this.#start(calls[made++] as Stream);
        // A timer would be a millisecond late.
        if (made < calls.length) setImmediate(turn);
      };
      turn();
    });
    return messagesOf(calls);
  }

  #run(start: (done: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onFault = reject;
      start(resolve);
    });
  }

  #start(...calls: Stream[]): void {
    this.#waiting.push(...calls);
    while (this.#open < this.#streamsMax && this.#waiting.length > 0) {
      const stream = this.#waiting.shift() as Stream;
      stream.window = this.#windowOfStreams;
      this.#sending.push(stream);
      this.#open++;
    }
    this.#send();
  }

  /** Sends what may be sent, a turn of each stream after the other. */
  #send(): void {
    let isAny = true;
    while (isAny && !this.#socket.writableNeedDrain) {
      isAny = false;
      let hasEnded = false;
      for (const stream of this.#sending) {
        if (this.#sendTurn(stream)) isAny = true;
        if (stream.next === stream.frames.ends.length) hasEnded = true;
      }
      if (hasEnded) this.#sending = this.#sending.filter(isUnsent);
    }
  }

  /** Sends frames of a stream; false: its windows are closed. */
  #sendTurn(stream: Stream): boolean {
    const { bytes, ends } = stream.frames;
    const start = stream.next === 0 ? 0 : (ends[stream.next - 1] as number);
    let end = start;
    while (stream.next < ends.length && end - start < TURN_BYTES) {
      const frameEnd = ends[stream.next] as number;
      // The first frame are the headers, which no window bounds.
      const size = stream.next === 0 ? 0 : frameEnd - end - FRAME_HEAD_BYTES;
      if (size > Math.min(stream.window, this.#window)) break;
      stream.window -= size;
      this.#window -= size;
      stream.next++;
      end = frameEnd;
    }
    if (end === start) return false;
    this.#socket.write(bytes.subarray(start, end));
    return true;
  }

  #read(bytes: Buffer, count: number): void {
    const inbox = this.#inbox;
    bytes.copy(inbox, this.#inboxEnd, 0, count);
    this.#inboxEnd += count;
    let at = 0;
    this.#socket.cork();
    while (this.#inboxEnd - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + inbox.readUIntBE(at, 3);
      if (end > this.#inboxEnd) break;
      this.#take(at, end);
      at = end;
    }
    inbox.copyWithin(0, at, this.#inboxEnd);
    this.#inboxEnd -= at;
    if (this.#sending.length > 0) this.#send();
    this.#socket.uncork();
  }

  #take(at: number, end: number): void {
    const inbox = this.#inbox;
    const type = inbox[at + 3] as number;
    const flags = inbox[at + 4] as number;
    const number = inbox.readUInt32BE(at + 5);
    const start = at + FRAME_HEAD_BYTES;
    const stream = this.#streams[number >> 1];
    if (type === DATA || type === HEADERS) {
      if (stream === undefined) throw new Error(`stream ${number}: it has ended`);
      if (type === DATA) this.#takeData(stream, start, end);
      else this.#takeHeaders(stream, flags, this.#status.isOk(inbox, start, end));
    } else if (type === WINDOW_UPDATE) {
      const more = inbox.readUInt32BE(start);
      if (number === 0) this.#window += more;
      else if (stream !== undefined) stream.window += more;
    } else if (type === SETTINGS && (flags & ACK) === 0) this.#takeSettings(start, end);
    else if (type === PING && (flags & ACK) === 0) {
      this.#socket.write(frameOf(PING, ACK, 0, inbox.subarray(start, end)));
    } else if (type === GOAWAY || (type === RST_STREAM && stream !== undefined)) {
      this.#onFault(new Error(`frame of type ${type}: code ${inbox.readUInt32BE(end - 4)}`));
    }
  }

  #takeSettings(start: number, end: number): void {
    for (let at = start; at < end; at += 6) {
      const setting = this.#inbox.readUInt16BE(at);
      const size = this.#inbox.readUInt32BE(at + 2);
      if (setting === SETTING_STREAMS_MAX) this.#streamsMax = size;
      if (setting !== SETTING_INITIAL_WINDOW) continue;
      for (const stream of this.#sending) stream.window += size - this.#windowOfStreams;
      this.#windowOfStreams = size;
    }
    this.#socket.write(frameOf(SETTINGS, ACK, 0, Buffer.alloc(0)));
  }

  #takeData(stream: Stream, start: number, end: number): void {
    countMessages(stream, this.#inbox, start, end);
    stream.unread += end - start;
    this.#unread += end - start;
    if (stream.unread >= STREAM_WINDOW / 2) {
      this.#socket.write(windowUpdate(stream.frames.stream, stream.unread));
      stream.unread = 0;
    }
    if (this.#unread >= CONNECTION_WINDOW / 2) {
      this.#socket.write(windowUpdate(0, this.#unread));
      this.#unread = 0;
    }
  }

  #takeHeaders(stream: Stream, flags: number, isOk: boolean): void {
    if ((flags & ~END_STREAM) !== END_HEADERS) this.#onFault(new Error(`headers: flags ${flags}`));
    if ((flags & END_STREAM) === 0) return;
    this.#streams[stream.frames.stream >> 1] = undefined;
    this.#open--;
    if (this.#waiting.length > 0) this.#start();
    if (isOk && stream.bodyLeft === 0 && stream.headRead === 0) this.#onEnd(stream);
    else this.#onFault(new Error(`stream ${stream.frames.stream}: it ended otherwise than OK`));
  }
}

function isUnsent({ next, frames }: Stream): boolean {
  return next < frames.ends.length;
}

function messagesOf(calls: Prepared): number {
  return calls.reduce((sum, { count }) => sum + count, 0);
}

/** Messages stand one after the other in the frames of a stream, however these cut them. */
function countMessages(stream: Stream, bytes: Buffer, start: number, end: number): void {
  for (let at = start; at < end; ) {
    if (stream.bodyLeft > 0) {
      const size = Math.min(stream.bodyLeft, end - at);
      stream.bodyLeft -= size;
      at += size;
      continue;
    }
    // The first of its five bytes is 0: not compressed.
    stream.length = stream.length * 256 + (bytes[at++] as number);
    if (++stream.headRead < MESSAGE_HEAD_BYTES) continue;
    stream.count++;
    stream.bodyLeft = stream.length;
    stream.headRead = 0;
    stream.length = 0;
  }
}
