/**
 * What Piscina loads in each thread of a pool: it asks for a file with `require`. An ES module is linked in one step by that, and a
 * thread that is ended within this step takes the whole process with it (Node 20: "must be used on an instantiated module").
 * This one is no ES module, and loads the entry of threads in the way in which a thread can be ended.
 */
import type { WorkerTask } from "./workers/remote/worker-loop.ts";

async function attend(task: WorkerTask): Promise<boolean> {
  const thread = await import("./thread.ts");
  return await thread.attend(task);
}

module.exports = { attend };
