/** Servers of one test, and whatever else is to be closed behind it; and the name of the fault that a download ends in. */
import type { Server } from "node:http";
import { onTestFinished } from "vitest";
import { DownloadError } from "../../src/crawl/http/download-error.ts";

/** Calls these after the test, the last one first. A hook of this module would be one file's alone, as files share their modules. */
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
