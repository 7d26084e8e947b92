import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import { describe, expect, it } from "vitest";

const layoutUrl = new URL("../../src/layout/", import.meta.url);
const root = fileURLToPath(new URL("../..", import.meta.url));
const names = readdirSync(layoutUrl)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length));

type Constants = Record<string, number>;

/** The constants of one layout file as asc reads them: exported globals of a module of their own. */
async function constantsOfAsc(name: string): Promise<Constants> {
  const files = new Map<string, string | Uint8Array>();
  // No asconfig.json: it would add the kernel's own entries to this module.
  const options = ["--runtime", "stub", "--baseDir", root, "--config", "no-asconfig.json"];
  const { error, stderr } = await asc.main(
    [`src/layout/${name}.ts`, "--outFile", "out.wasm", ...options],
    { writeFile: (path, contents) => void files.set(path, contents) },
  );
  const bytes = files.get("out.wasm");
  if (error !== null || !(bytes instanceof Uint8Array))
    throw new Error(`asc: ${stderr.toString()}`);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {});
  const globals = Object.entries(exports as Record<string, { value: number }>);
  return Object.fromEntries(
    globals.flatMap(([key, each]) => (key === "memory" ? [] : [[key, each.value]])),
  );
}

describe("layout", () => {
  it.each(names)("asc and tsc read the same integers out of %s", async (name) => {
    const seen: Constants = await import(new URL(`${name}.ts`, layoutUrl).href);
    const own = { ...seen };
    expect(Object.keys(own).length).toBeGreaterThan(0);
    expect(await constantsOfAsc(name)).toEqual(own);
  });
});
