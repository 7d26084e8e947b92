/**
 * A crawl that archives, in a process that can be killed: node test/archives/crawl-child.mjs <JSON of options for crawl()>
 */
import { crawl } from "../../dist/crawl.js";

const { reason } = await crawl(JSON.parse(process.argv[2])).finished;
process.stdout.write(reason);
