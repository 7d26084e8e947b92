/** A client that does not read its answers. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { expect, it, onTestFinished } from "vitest";
import { connect, found, serving } from "./client.ts";

/** ListQueues of all queues. */
const ALL = Buffer.from([0, 0, 0, 0, 6, 0x10, 0xff, 0xff, 0xff, 0xff, 0x07]);

it("loses its connection when its answers take more than the room of all, and no other client does", {
  timeout: 60_000,
}, async () => {
  // Answers that wait may take 64 times this.
  const { port } = await serving({ messageBytesMax: 16_384 });
  const client = connect(port);
  const keys = Array.from({ length: 1_000 }, (_, n) => `${n}`.padStart(200, "k"));
  await client.put(...keys.map((key) => found("http://a.com/", { key })));
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => session.destroy());
  session.on("error", () => undefined);
  const closed = once(session, "close");
  await once(session, "remoteSettings");
  for (let calls = 0; calls < 50; calls++) {
    const stream = session.request({
      ":method": "POST",
      ":path": "/urlfrontier.URLFrontier/ListQueues",
      "content-type": "application/grpc",
    });
    stream.on("error", () => undefined);
    stream.end(ALL);
  }
  await closed;
  const { values } = await client.call<{ values: string[] }>("ListQueues", { size: 2_000 });
  expect(values).toEqual(keys);
});
