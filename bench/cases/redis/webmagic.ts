/**
 * WebMagic's RedisScheduler, command by command: SADD of the URL to a set, RPUSH to a list where it was new, LPOP to poll. No
 * leases, no politeness, no acknowledgement. One by one as it does, or pipelined as it could.
 */
import { closeClient, inFlight } from "./prototype.ts";
import { CALL, type RedisSide, type RedisSideOptions } from "./side.ts";
import { openClient } from "./server.ts";

const [SET, QUEUE] = ["set_bench", "queue_bench"];

export async function openWebmagic({ socket }: RedisSideOptions): Promise<RedisSide> {
  const client = await openClient(socket);
  return {
    async push(urls) {
      for (const url of urls) {
        if ((await client.sadd(SET, url)) === 1) await client.rpush(QUEUE, url);
      }
    },
    async drain() {
      let count = 0;
      while ((await client.lpop(QUEUE)) !== null) count++;
      return count;
    },
    close: () => closeClient(client),
  };
}

export async function openWebmagicPipelined({ socket }: RedisSideOptions): Promise<RedisSide> {
  const client = await openClient(socket);
  const pushCall = async (urls: readonly string[]): Promise<void> => {
    const added = await Promise.all(urls.map((url) => client.sadd(SET, url)));
    const fresh = urls.filter((_, at) => added[at] === 1);
    await Promise.all(fresh.map((url) => client.rpush(QUEUE, url)));
  };
  return {
    push: (urls) => inFlight(urls, CALL, pushCall),
    async drain() {
      let count = 0;
      for (;;) {
        const urls = await Promise.all(Array.from({ length: CALL }, () => client.lpop(QUEUE)));
        const had = urls.filter((url) => url !== null).length;
        count += had;
        if (had === 0) return count;
      }
    },
    close: () => closeClient(client),
  };
}
