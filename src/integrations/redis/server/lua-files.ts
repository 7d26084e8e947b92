/**
 * The text of the scripts. The bundle holds them in place of this module (tools/bundle.mjs); everywhere else they are read from
 * their files, once.
 */
import { readFileSync } from "node:fs";
import { packageFile } from "../../../base/package-files.ts";

const texts = new Map<string, string>();

/** A file of `lua/` by its name without ending. */
export function luaText(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(packageFile(`integrations/redis/lua/${name}.lua`), "utf8");
    texts.set(name, text);
  }
  return text;
}
