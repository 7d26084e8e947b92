import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import { beforeAll, describe, expect, it } from "vitest";

const layoutUrl = new URL("../../src/layout/", import.meta.url);
const root = fileURLToPath(new URL("../..", import.meta.url));
const names = readdirSync(layoutUrl, { encoding: "utf8", recursive: true })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length));

type Constants = Record<string, number>;

/** The constants of each layout file. */
type Layouts = Map<string, Constants>;

/** As asc reads them: exported globals of one module that has all files for entries. */
async function layoutsOfAsc(): Promise<Constants> {
  const files = new Map<string, string | Uint8Array>();
  // No asconfig.json: it would add the kernel's own entries to this module.
  const options = ["--runtime", "stub", "--baseDir", root, "--config", "no-asconfig.json"];
  const entries = names.map((name) => `src/layout/${name}.ts`);
  const { error, stderr } = await asc.main([...entries, "--outFile", "out.wasm", ...options], {
    writeFile: (path, contents) => void files.set(path, contents),
  });
  const bytes = files.get("out.wasm");
  if (error !== null || !(bytes instanceof Uint8Array))
    throw new Error(`asc: ${stderr.toString()}`);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {});
  const globals = Object.entries(exports as Record<string, { value: number }>);
  return Object.fromEntries(
    globals.flatMap(([key, each]) => (key === "memory" ? [] : [[key, each.value]])),
  );
}

async function layoutsOfTsc(): Promise<Layouts> {
  const layouts: Layouts = new Map();
  for (const name of names) {
    const seen: Constants = await import(new URL(`${name}.ts`, layoutUrl).href);
    layouts.set(name, { ...seen });
  }
  return layouts;
}

describe("layout", () => {
  let byAsc: Constants;
  let byTsc: Layouts;
  beforeAll(async () => {
    byAsc = await layoutsOfAsc();
    byTsc = await layoutsOfTsc();
  });

  it.each(names)("asc and tsc read the same integers out of %s", (name) => {
    const own = byTsc.get(name) ?? {};
    expect(Object.keys(own).length).toBeGreaterThan(0);
    const seen = Object.keys(own).map((key) => [key, byAsc[key]]);
    expect(Object.fromEntries(seen)).toEqual(own);
  });

  it("asc sees no constant that tsc does not, and no name stands in two files", () => {
    const all = [...byTsc.values()].flatMap((own) => Object.keys(own));
    expect(Object.keys(byAsc).sort()).toEqual(all.sort());
  });
});
