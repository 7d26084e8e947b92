/** Workload files of this checkout: made once for a recipe, then read by every side (build/bench/workloads). */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../harness/machine.ts";
import { writeWorkload } from "./format.ts";
import { openSource, type Recipe } from "./generate.ts";

/** Generators change with this: files of another one are not read. */
const GENERATION = 1;

/** The path of a recipe's file, which is written if it does not exist. */
export function workloadFile(recipe: Recipe): string {
  const folder = join(ROOT, "build/bench/workloads");
  const { kind, urls, hosts, seed = 1, menu = 0 } = recipe;
  const name = `${kind}-${urls}-${hosts}-${seed}-${menu}-g${GENERATION}.txt`;
  const path = join(folder, name);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeWorkload(path, recipe, openSource(recipe));
  }
  return path;
}
