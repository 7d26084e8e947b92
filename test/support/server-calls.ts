/** The test of random calls to a server against its model, over one kind of store. */
import { it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { connect, serving } from "../server/client.ts";
import { type Store, storeOptions } from "../server/stores.ts";
import { commandsOf, testSeed } from "./seed.ts";
import { ServerDuel } from "./server-duel.ts";

const CALLS = commandsOf(200);
const CALLS_PER_CHECK = 5;
const LOG_LINES = 30;

export function testServerCalls(store: Store): void {
  it(`a server in ${store} answers random calls as its model does`, async (context) => {
    const seed = testSeed(`server calls in ${store}`);
    const random = createRandom(seed);
    const duel = new ServerDuel(random);
    const options = { clock: duel.clock, ...(await storeOptions(store, context)) };
    let server = await serving(options);
    duel.client = connect(server.port);
    try {
      for (let call = 1; call <= CALLS; call++) {
        if (store !== "memory" && random.below(25) === 0) {
          duel.client.raw.close();
          await server.close();
          server = await serving(options);
          duel.client = connect(server.port);
          duel.restarted(store);
        }
        await duel.step();
        if (call % CALLS_PER_CHECK === 0) await duel.check();
      }
    } catch (cause) {
      const calls = duel.log.slice(-LOG_LINES).join("\n");
      throw new Error(`SEED=${seed}, after\n${calls}\n${(cause as Error).message}`, { cause });
    }
  });
}
