/** The process of a synthetic web (web.ts): says its port, and ends with its input. */
import { writeSync } from "node:fs";
import { openSyntheticWeb } from "../../../src/testing.ts";

const web = await openSyntheticWeb(JSON.parse(process.argv[2] ?? "{}"));
process.stdin.on("close", () => process.exit(0)).resume();
writeSync(1, `${web.port}\n`);
