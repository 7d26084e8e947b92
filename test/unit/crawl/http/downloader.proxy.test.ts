import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createRawServer } from "node:net";
import { describe, expect, it } from "vitest";
import { createDownloader } from "../../../../src/crawl/http/downloader.ts";
import type { Download } from "../../../../src/crawl/module-registry.ts";
import { certificateOf } from "../../../support/certificate.ts";
import { closeAfter, faultOf, listen } from "../../../support/listening.ts";

describe("the downloader behind a proxy", () => {
  it("asks through a proxy, but not for an address that the guard refuses", async () => {
    const origin = await listen(createServer((_, response) => void response.end("through")));
    const { port } = origin.address() as AddressInfo;
    const asked: string[] = [];
    const proxy = await listen(createServer());
    proxy.on("connect", (request, socket) => {
      asked.push(request.url ?? "");
      const onward = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        onward.pipe(socket).pipe(onward);
      });
      onward.on("error", () => socket.destroy());
      socket.on("error", () => onward.destroy());
      closeAfter(
        () => socket.destroy(),
        () => onward.destroy(),
      );
    });
    const uri = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const through = createDownloader({ proxy: uri, allowPrivate: true });
    closeAfter(() => through.close());
    const answer = await through.download({ url: "http://site.example/page" });
    expect([answer.body.toString(), asked]).toEqual(["through", ["site.example:80"]]);
    const guarded = createDownloader({ proxy: uri });
    closeAfter(() => guarded.close());
    for (const host of ["169.254.169.254", "127.0.0.1", "[::1]", "0x7f.1"]) {
      expect(await faultOf(guarded.download({ url: `http://${host}/` }))).toBe("address");
    }
    expect(asked).toHaveLength(1);
  });

  it("says of a proxy that it refused, which may pass and is nobody's giving up", async () => {
    const proxy = await listen(createServer());
    proxy.on("connect", (_, socket) => socket.end("HTTP/1.1 407 Who are you\r\n\r\n"));
    const uri = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const through = createDownloader({ proxy: uri });
    closeAfter(() => through.close());
    for (const scheme of ["http", "https"]) {
      const answer = through.download({ url: `${scheme}://site.example/` });
      await expect(answer).rejects.toMatchObject({ fault: "proxy", isTransient: true });
    }
  });

  it("passes over 100 Continue that nobody asked for, the origin's and the proxy's", async () => {
    const interim = "HTTP/1.1 100 Continue\r\n\r\n";
    const origin = createRawServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", () => {
        socket.write(interim);
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nthrough");
      });
    });
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    closeAfter(() => new Promise((resolve) => origin.close(resolve)));
    const { port } = origin.address() as AddressInfo;
    const proxy = await listen(createServer());
    proxy.on("connect", (_, socket) => {
      const onward = connect(port, "127.0.0.1", () => {
        socket.write(`${interim}HTTP/1.1 200 OK\r\n\r\n`);
        onward.pipe(socket).pipe(onward);
      });
      for (const end of [onward, socket]) end.on("error", () => {});
      closeAfter(
        () => socket.destroy(),
        () => onward.destroy(),
      );
    });
    const uri = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const through = createDownloader({ proxy: uri });
    closeAfter(() => through.close());
    for (let at = 0; at < 3; at++) {
      const answer = await through.download({ url: "http://site.example/" });
      expect([answer.status, answer.body.toString()]).toEqual([200, "through"]);
    }
  });

  it("trusts behind a proxy the certificates that it is told to", async () => {
    const made = certificateOf("site.example");
    const origin = createTlsServer({ ...made }, (_, response) => void response.end("through"));
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    const { port } = origin.address() as AddressInfo;
    const proxy = await listen(createServer());
    proxy.on("connect", (_, socket) => {
      const onward = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        onward.pipe(socket).pipe(onward);
      });
      for (const end of [onward, socket]) end.on("error", () => {});
      closeAfter(
        () => socket.destroy(),
        () => onward.destroy(),
      );
    });
    closeAfter(() => {
      origin.closeAllConnections();
      origin.close();
    });
    const uri = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const ask = (ca?: string): Promise<Download> => {
      const through = createDownloader({ proxy: uri, ...(ca === undefined ? {} : { ca }) });
      closeAfter(() => through.close());
      return through.download({ url: "https://site.example/" });
    };
    expect((await ask(made.cert)).body.toString()).toBe("through");
    expect(await faultOf(ask())).toBe("tls");
  });
});
