/** TLS on both ports: who has no certificate that was asked for gets nothing, and no other address is listened on without a secret. */
import { request } from "node:https";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import type { ServeTls } from "../../src/server.ts";
import { certificateOf } from "../support/certificate.ts";
import { connect, found, serving } from "./client.ts";

const server = certificateOf("localhost");
const friend = certificateOf("friend.test");
const stranger = certificateOf("stranger.test");

type Pair = typeof server;

/** Credentials of a client that trusts our server, and shows a certificate of its own where it has one. */
function trusting(own?: Pair): grpc.ChannelCredentials {
  const [key, chain] = own === undefined ? [null, null] : [own.key, own.cert].map(Buffer.from);
  return grpc.credentials.createSsl(Buffer.from(server.cert), key ?? null, chain ?? null, {
    checkServerIdentity: () => undefined,
  });
}

/** The status of the page by HTTPS, or the code with which it was refused. */
function pageStatus(port: number | undefined, own?: Pair): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(
      {
        ...{ host: "127.0.0.1", port, path: "/healthz", ca: server.cert },
        ...{ checkServerIdentity: () => undefined, ...(own ?? {}) },
      },
      (answer) => {
        answer.resume();
        answer.on("end", () => resolve(answer.statusCode ?? 0));
      },
    );
    sent.on("error", (cause) => resolve((cause as { code?: string }).code ?? cause.message));
    sent.end();
  });
}

async function putBy(
  port: number,
  credentials: grpc.ChannelCredentials,
): Promise<string[] | number> {
  const client = connect(port, { credentials });
  try {
    return await client.put(found("http://a.test/"));
  } catch (cause) {
    return (cause as { code: number }).code;
  }
}

describe("a server with TLS", () => {
  it("talks to clients that trust it, on both ports, and to none without TLS", async () => {
    const { port, httpPort } = await serving({ tls: server });
    expect(await putBy(port, trusting())).toEqual(["OK"]);
    expect(await pageStatus(httpPort)).toBe(200);
    expect(await putBy(port, grpc.credentials.createInsecure())).toBe(grpc.status.UNAVAILABLE);
    await expect(fetch(`http://127.0.0.1:${httpPort}/healthz`)).rejects.toThrow();
  });

  it("that names who signs clients talks to those alone", async () => {
    const tls: ServeTls = { ...server, ca: friend.cert };
    const { port, httpPort } = await serving({ tls });
    expect(await putBy(port, trusting(friend))).toEqual(["OK"]);
    expect(await pageStatus(httpPort, friend)).toBe(200);
    for (const other of [undefined, stranger]) {
      expect(await putBy(port, trusting(other))).toBe(grpc.status.UNAVAILABLE);
      expect(await pageStatus(httpPort, other)).toEqual(expect.any(String));
    }
  });

  it("listens beyond loopback only with a token or with certificates of clients", async () => {
    const open = serving({ host: "0.0.0.0", tls: server });
    await expect(open).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    const { port } = await serving({ host: "0.0.0.0", tls: { ...server, ca: friend.cert } });
    expect(await putBy(port, trusting(friend))).toEqual(["OK"]);
  });
});
