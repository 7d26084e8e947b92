/** Servers of one test, and other things to close after it; and the name of the fault in which a download ends. */
import type { Server } from "node:http";
import { onTestFinished } from "vitest";
import { DownloadError } from "../../src/crawl/http/download-error.ts";

/** Calls these after the test, the last one first. A hook of this module would belong to one file only, since files share modules. */
export function closeAfter(...closers: ReadonlyArray<() => unknown>): void {
  for (const close of closers) {
    onTestFinished(async () => {
      await close();
    });
  }
}

export async function listen(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfter(() => {
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
