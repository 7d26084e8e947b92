/**
 * A client that abandons one request and sends the next before the server has had a turn. Runs as a worker thread, since the server's own
 * thread is blocked meanwhile. Posts "ready" when both connections are open.
 */
import { connect } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const { port, host, flag } = workerData;
const words = new Int32Array(flag);
const ask = (path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const opened = (path) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(ask(path)));
    socket.once("data", () => resolve(socket));
  });

const second = await opened("/base"); // answered whole, and kept
const first = await opened("/hang"); // a header, and then nothing
parentPort.once("message", () => {
  first.destroy();
  second.write(ask("/refreshed"));
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  second.once("data", () => parentPort.postMessage("answered"));
});
parentPort.postMessage("ready");
