/** A server in a process of its own: `outrider`, or `stub`, which answers without doing anything. Prints its port. */
import * as grpc from "@grpc/grpc-js";
import { serve } from "../../../src/server.ts";

const asItIs = (bytes: Buffer): Buffer => bytes;
const OK = Buffer.alloc(0);
const INFO = Buffer.from("\n\u0010http://a.com/123\u0012\u0005a.com");

function method(name: string, requestStream: boolean): grpc.MethodDefinition<Buffer, Buffer> {
  return {
    path: `/urlfrontier.URLFrontier/${name}`,
    requestStream,
    responseStream: true,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  };
}

/** Each message is answered by an empty one; a GetURLs by as many URLs as its second byte asks for. */
function stub(): Promise<number> {
  const server = new grpc.Server();
  const echo: grpc.handleBidiStreamingCall<Buffer, Buffer> = (call) => {
    call.on("data", () => call.write(OK));
    call.on("end", () => call.end());
  };
  const get: grpc.handleServerStreamingCall<Buffer, Buffer> = (call) => {
    const count = call.request[1] ?? 0;
    for (let sent = 0; sent < count; sent++) call.write(INFO);
    call.end();
  };
  const end: grpc.handleServerStreamingCall<Buffer, Buffer> = (call) => call.end();
  server.addService(
    {
      PutURLs: method("PutURLs", true),
      PutDiscovered: method("PutDiscovered", true),
      GetURLs: method("GetURLs", false),
      DeleteCrawl: method("DeleteCrawl", false),
    },
    { PutURLs: echo, PutDiscovered: echo, GetURLs: get, DeleteCrawl: end },
  );
  return new Promise((resolve, reject) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    server.bindAsync("127.0.0.1:0", credentials, (cause, port) =>
      cause === null ? resolve(port) : reject(cause),
    );
  });
}

const port =
  process.argv[2] === "stub" ? await stub() : (await serve({ port: 0, httpPort: false })).port;
process.stdout.write(`${port}\n`);
process.stdin.resume().on("end", () => process.exit(0));
