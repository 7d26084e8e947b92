/** Connections of the protocol: which are kept, and which are ended. */
import { once } from "node:events";
import { connect as connectHttp2, type ClientHttp2Session, constants } from "node:http2";
import { connect as connectSocket } from "node:net";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Calls } from "../../../../src/server/grpc/calls.ts";
import { type Keepalive, listen } from "../../../../src/server/grpc/listen.ts";
import { readServeOptions } from "../../../../src/server/options.ts";

const LONG_MS = 600_000;
/** The connection preface of HTTP/2 and empty settings. */
const PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const PING_TYPE = 6;
const ACK_FLAG = 1;

async function portOf(keepalive: Keepalive): Promise<number> {
  const server = await listen(readServeOptions({}), 0, {} as Calls, keepalive);
  onTestFinished(() => server.close(0));
  return server.port;
}

async function sessionTo(port: number): Promise<ClientHttp2Session> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  await once(session, "connect");
  return session;
}

/** A client by hand that answers so many pings, and no more; how many it was sent until it was cut off. */
async function pingsUntilClosed(port: number, answers: number): Promise<number> {
  const socket = connectSocket(port, "127.0.0.1");
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  let pings = 0;
  let kept = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    kept = Buffer.concat([kept, bytes]);
    while (kept.length >= 9 && kept.length >= 9 + kept.readUIntBE(0, 3)) {
      const end = 9 + kept.readUIntBE(0, 3);
      const frame = Buffer.from(kept.subarray(0, end));
      kept = kept.subarray(end);
      if (frame[3] !== PING_TYPE) continue;
      frame[4] = ACK_FLAG;
      if (++pings <= answers) socket.write(frame);
    }
  });
  socket.write(PREFACE);
  await once(socket, "close");
  return pings;
}

/**
 * A client in a thread of its own. It answers its first ping when word 1 is set; word 0 counts the pings, word 2 the answers that have left.
 */
const PATIENT_CLIENT = `
  const { workerData: { port, words, preface } } = require("node:worker_threads");
  const socket = require("node:net").connect(port, "127.0.0.1", () => socket.write(preface));
  const parent = require("node:worker_threads").parentPort;
  let kept = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("close", () => parent.postMessage("closed"));
  socket.on("data", (bytes) => {
    kept = Buffer.concat([kept, bytes]);
    while (kept.length >= 9 && kept.length >= 9 + kept.readUIntBE(0, 3)) {
      const end = 9 + kept.readUIntBE(0, 3);
      const frame = Buffer.from(kept.subarray(0, end));
      kept = kept.subarray(end);
      if (frame[3] !== ${PING_TYPE}) continue;
      frame[4] = ${ACK_FLAG};
      const count = Atomics.add(words, 0, 1) + 1;
      if (count === 2) parent.postMessage("asked again");
      Atomics.wait(words, 1, 0);
      socket.write(frame, () => {
        Atomics.add(words, 2, 1);
        Atomics.notify(words, 2);
      });
    }
  });
`;

describe("a connection of the protocol", () => {
  it("is answered each ping of its client, with the same bytes", async () => {
    const session = await sessionTo(await portOf({ idleMs: LONG_MS, answerMs: LONG_MS }));
    for (let round = 0; round < 20; round++) {
      const sent = Buffer.from(`ping ${round}`.padEnd(8));
      const answer = new Promise((resolve, reject) => {
        session.ping(sent, (cause, _ms, bytes) =>
          cause === null ? resolve(bytes) : reject(cause),
        );
      });
      expect(Buffer.compare((await answer) as Buffer, sent)).toBe(0);
    }
  });

  it("is asked each time that nothing happens on it, and kept while its client answers", async () => {
    const session = await sessionTo(await portOf({ idleMs: 20, answerMs: LONG_MS }));
    for (let round = 0; round < 3; round++) await once(session, "ping");
    const stream = session.request({
      ":method": constants.HTTP2_METHOD_POST,
      ":path": ["", "none"].join("/"),
      "content-type": "application/grpc",
    });
    const [headers] = (await once(stream, "response")) as [Record<string, string>];
    expect(headers["grpc-status"]).toBe("12");
  });

  it("is kept where its answer came in time, while this process stood still", async () => {
    const answerMs = 400;
    const port = await portOf({ idleMs: 20, answerMs });
    const words = new Int32Array(new SharedArrayBuffer(12));
    const workerData = { port, words, preface: PREFACE };
    const worker = new Worker(PATIENT_CLIENT, { eval: true, workerData });
    onTestFinished(async () => void (await worker.terminate()));
    const end = once(worker, "message");
    await new Promise<void>((resolve) => {
      const turn = (): void => {
        if (Atomics.load(words, 0) > 0) resolve();
        else setImmediate(turn);
      };
      turn();
    });
    // Still in the turn that saw the ping: nothing is read until its answer is there and late.
    const askedAt = performance.now();
    Atomics.store(words, 1, 1);
    Atomics.notify(words, 1);
    Atomics.wait(words, 2, 0);
    while (performance.now() < askedAt + answerMs);
    expect(await end).toEqual(["asked again"]);
  });

  it.each([0, 2])("is ended when its client has answered %i pings and is gone", async (answers) => {
    const port = await portOf({ idleMs: 20, answerMs: 3_000 });
    expect(await pingsUntilClosed(port, answers)).toBe(answers + 1);
  });
});
