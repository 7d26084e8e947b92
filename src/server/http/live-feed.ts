/**
 * The live feed: one snapshot a second of all frontiers, as server-sent events, made once for all clients, and not at all when
 * there are none. A client that does not read is dropped rather than waited for.
 */
import type { ServerResponse } from "node:http";
import { after } from "../../base/clock.ts";

export const MEDIA_EVENTS = "text/event-stream; charset=utf-8";
const PERIOD_MS = 1_000;
const CLIENTS_MAX = 32;
/** Bytes that may wait for a client. */
const BEHIND_BYTES_MAX = 1 << 20;

export interface LiveFeed {
  /** Sends snapshots until the client leaves. */
  join(response: ServerResponse): void;
  close(): void;
}

export function createLiveFeed(snapshot: () => Promise<unknown>): LiveFeed {
  const clients = new Set<ServerResponse>();
  let stop: (() => void) | undefined;
  const send = (response: ServerResponse, text: string): void => {
    if (response.writableLength > BEHIND_BYTES_MAX) response.destroy();
    else response.write(text);
  };
  const tick = async (): Promise<void> => {
    stop = undefined;
    if (clients.size === 0) return;
    const text = await snapshot().then(
      (value) => `data: ${JSON.stringify(value)}\n\n`,
      (cause) => `event: fault\ndata: ${JSON.stringify(String(cause))}\n\n`,
    );
    for (const client of clients) send(client, text);
    arm(PERIOD_MS);
  };
  const arm = (ms: number): void => {
    stop ??= after(ms, () => void tick(), false);
  };
  return {
    join(response) {
      if (clients.size >= CLIENTS_MAX) {
        response.end('event: fault\ndata: "too many pages are connected to this server"\n\n');
        return;
      }
      clients.add(response);
      response.on("close", () => clients.delete(response));
      response.write("retry: 2000\n\n");
      arm(0);
    },
    close() {
      stop?.();
      for (const client of clients) client.end();
      clients.clear();
    },
  };
}
