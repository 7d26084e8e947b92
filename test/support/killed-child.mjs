/** A process that ends by SIGKILL at a known point: it pushes, takes and finishes this many pages, flushes, and dies. */
import { openFrontier } from "../../dist/index.js";

const [directory, pushed, taken, done] = process.argv.slice(2);
const frontier = await openFrontier({ directory });
frontier.pushMany(Array.from({ length: Number(pushed) }, (_, at) => `http://a.com/${at}`));
const leases = frontier.pollMany(Number(taken));
frontier.done(leases.slice(0, Number(done)));
await frontier.flush();
process.kill(process.pid, "SIGKILL");
for (;;); // prints nothing more until the signal comes
