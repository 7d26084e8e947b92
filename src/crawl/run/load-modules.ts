/**
 * Modules of a crawl as they are given: objects, or paths of ES modules that export what the kind needs.
 *
 *   downloader: `download(request)` · analyzer: `analyze(page)` · pipeline: `processors`, or one `process(item, source)`
 */
import { misuse } from "../../base/errors.ts";
import { createWarcFile } from "../archive/warc-file.ts";
import { createItemFile, loadModule } from "../files.ts";
import { type Identity, openIdentity } from "../identity/identity.ts";
import {
  checkModule,
  type Downloader,
  type ModuleKind,
  type ModuleOf,
  type ModuleRegistry,
} from "../module-registry.ts";
import { type CrawlOptions, pick } from "./crawl-options.ts";

/** Registers what the options name; without a downloader of the user's, the built-in one. */
export async function registerModules(
  registry: ModuleRegistry,
  options: CrawlOptions,
  builtIn: () => Downloader,
): Promise<void> {
  await registerAll(registry, "downloader", options.downloaders ?? []);
  if (options.downloaders === undefined) registry.register("downloader", builtIn(), "undici");
  await registerAll(registry, "analyzer", options.analyzers ?? []);
  const pipelines = await loadAll("pipeline", options.pipelines ?? []);
  const { items } = options;
  const writer =
    items === undefined
      ? undefined
      : createItemFile(typeof items === "string" ? { path: items } : items);
  // A pipeline that only archives gets no items: the others write them.
  const working = pipelines.filter(({ processors }) => processors.length > 0);
  if (writer !== undefined && working.length === 0) registry.register("pipeline", writer, "items");
  for (const pipeline of pipelines) {
    if (pipeline.processors.length === 0) {
      registry.register("pipeline", pipeline);
      continue;
    }
    // An item goes through one of the pipelines, so each of them ends in the file; the first one closes it.
    const processors = [...pipeline.processors, ...(writer?.processors ?? [])];
    const close = async (): Promise<void> => {
      await pipeline.close?.();
      if (pipeline === working[0]) await writer?.close?.();
    };
    registry.register("pipeline", { ...pipeline, processors, close });
  }
  const { warc } = options;
  if (warc === undefined) return;
  const given: { path: string; rotateBytes?: number | undefined } =
    typeof warc === "string" ? { path: warc } : warc;
  const about = { ...pick(given, ["rotateBytes"]), ...pick(options, ["clock"]) };
  const archive = createWarcFile(given.path, about);
  registry.register("pipeline", archive, "warc");
}

/** The identity with which a downloader signs. */
export async function signingOf({ identity }: CrawlOptions): Promise<{ identity?: Identity }> {
  return identity === undefined ? {} : { identity: await openIdentity(identity) };
}

async function registerAll<K extends ModuleKind>(
  registry: ModuleRegistry,
  kind: K,
  given: ReadonlyArray<ModuleOf[K] | string | URL>,
): Promise<void> {
  for (const module of await loadAll(kind, given)) registry.register(kind, module);
}

async function loadAll<K extends ModuleKind>(
  kind: K,
  given: ReadonlyArray<ModuleOf[K] | string | URL>,
): Promise<ModuleOf[K][]> {
  const modules: ModuleOf[K][] = [];
  for (const each of given) {
    const isPath = typeof each === "string" || each instanceof URL;
    const module = isPath ? moduleOf(kind, await loadModule(each)) : each;
    checkModule(kind, module);
    modules.push(module as ModuleOf[K]);
  }
  return modules;
}

/** What an ES module exports, as a module of a kind; its default export may hold it. */
function moduleOf(kind: ModuleKind, exported: Record<string, unknown>): unknown {
  const name = { downloader: "download", analyzer: "analyze", pipeline: "process" }[kind];
  const inner = exported.default;
  if (typeof inner === "object" && inner !== null) return inner;
  const called = exported[name] ?? inner;
  if (kind === "pipeline" && Array.isArray(exported.processors)) return exported;
  if (typeof called !== "function") {
    throw misuse("OPTION_INVALID", kind, Object.keys(exported), `a module that exports ${name}()`);
  }
  return kind === "pipeline"
    ? { processors: [called], failFast: exported.failFast !== false }
    : { ...exported, [name]: called };
}
