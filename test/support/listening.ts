/** Servers of one test, and whatever else is to be closed behind it; and the name of the fault that a download ends in. */
import type { Server } from "node:http";
import { afterEach } from "vitest";
import { DownloadError } from "../../src/crawl/download-error.ts";

/** Closed behind each test, the last one first. */
export const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

export async function listen(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return server;
}

export async function faultOf(answer: Promise<unknown>): Promise<string> {
  const cause = await answer.then(
    () => "answered",
    (each: unknown) => each,
  );
  return cause instanceof DownloadError ? cause.fault : String(cause);
}
