/**
 * Crawlee's packages, which the user installs. They are found where the user's program finds them, so that a request is an instance of
 * the crawler's own class; nothing is loaded before it is needed.
 *
 *   1  what is loaded already (version 3)      2  beside outrider      3  in the working directory      4  beside the program
 *
 * Below each of them a package is looked for by its own name, then as a dependency of `crawlee`, for installers that keep
 * dependencies apart.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { FrontierError, shown } from "../../base/errors.ts";
import type { CrawleeRequest } from "./crawlee-types.ts";

/** Crawlee's class `Request`. */
export interface RequestClass {
  /** Makes a request of its options. */
  new (options: never): CrawleeRequest;
  /** The unique key of a request that names none. */
  computeUniqueKey(request: Pick<CrawleeRequest, "url" | "method">): string;
  /** Version 4: makes a request of what a storage returned. */
  fromSchema?(schema: object): CrawleeRequest;
}

/** Crawlee's class `Request`. Throws UNSUPPORTED where Crawlee is not installed. */
export function loadRequestClass(): RequestClass {
  const { Request } = loadPackage("@crawlee/core") as { Request?: RequestClass };
  if (typeof Request === "function") return Request;
  throw new FrontierError(
    "UNSUPPORTED",
    "@crawlee/core: no class Request (expected: version 3 or 4)",
  );
}

/** A package of Crawlee's. Throws UNSUPPORTED, with what each place answered. */
export function loadPackage(name: string): object {
  const loaded = alreadyLoaded(name);
  if (loaded !== undefined) return loaded;
  const faults: string[] = [];
  for (const place of places()) {
    for (const load of [
      () => createRequire(place)(name),
      () => createRequire(createRequire(place).resolve("crawlee"))(name),
    ]) {
      try {
        return load();
      } catch (error) {
        faults.push(shown(error));
      }
    }
  }
  const expected = "Crawlee beside outrider: npm install crawlee";
  throw new FrontierError("UNSUPPORTED", `package ${name} (expected: ${expected}); ${faults[0]}`);
}

function places(): string[] {
  const program = process.argv[1];
  const folder = pathToFileURL(join(process.cwd(), "program.js")).href;
  return [import.meta.url, folder, ...(program === undefined ? [] : [program])];
}

function alreadyLoaded(name: string): object | undefined {
  const { cache } = createRequire(import.meta.url);
  const tail = `/node_modules/${name}/index.js`;
  for (const [path, module] of Object.entries(cache)) {
    if (path.replaceAll("\\", "/").endsWith(tail) && module?.loaded) return module.exports;
  }
  return undefined;
}
