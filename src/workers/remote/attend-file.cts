/**
 * What Piscina loads in each thread of a pool: it asks for a file with `require`. An ES module is linked in one step by that, and a
 * thread that is ended within this step takes the whole process with it (Node 20: "must be used on an instantiated module").
 * This one is no ES module, and loads those in the way in which a thread can be ended.
 */
import type { AttendTask } from "./attend.ts";

async function attend(task: AttendTask): Promise<boolean> {
  const remote = await import("./attend.ts");
  return await remote.attend(task);
}

module.exports = { attend };
