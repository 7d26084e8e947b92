/**
 * The doors: who may import whom. `ROOMS` is the table of CONTRIBUTING.md, row by row; every rule below
 * is made from it. `test/tidy/doors.test.ts` keeps one small bad tree per rule and shows that it is
 * caught.
 *
 *   <room>-doors      a file of the room imports a folder that its row does not name
 *   <room>-packages   … an npm package that its row does not name
 *   <entry>-doors     a public entry, an example or a benchmark reaches where it must not
 *   spill-doors       a file of frontier other than spill-control, spill-hosts and spill-state reaches for the spill
 *   no-platform       rooms 0–4 touch a module of the platform
 *   no-optional       the core can reach an optional dependency, through any number of files
 *   no-cycle · no-dead-end
 */

const CORE_PACKAGES = ["msgpackr", "piscina", "hdr-histogram-js", "tldts", "tr46"];
const OPTIONAL_PACKAGES = ["undici", "htmlparser2", "lmdb", "ioredis", "@opentelemetry/api"];

const WORKER_ROOMS = ["layout", "base", "memory", "kernel", "structures", "url"];

/** room: [what it may import besides itself, npm packages]. tr46 is the pinned IDNA table. */
const ROOMS = {
  layout: [[], []],
  base: [[], ["hdr-histogram-js"]],
  memory: [["layout", "base"], []],
  kernel: [["layout", "base", "memory"], []],
  url: [
    ["layout", "base", "kernel"],
    ["tldts", "tr46"],
  ],
  structures: [["layout", "base", "memory", "kernel"], []],
  frontier: [["base", "structures", "url"], []],
  persistence: [["layout", "base", "structures", "frontier"], ["msgpackr"]],
  engine: [[...WORKER_ROOMS, "frontier", "persistence", "workers"], CORE_PACKAGES],
};

const anyOf = (names) => `(${names.join("|")})`;
const inRooms = (names) => (names.length === 0 ? [] : [`^src/${anyOf(names)}/`]);

/** Folders of this repository; an import of anything else is a package or the platform. */
const OURS = "^(src|assembly|bench|test|examples|tools|dist)/";
const packagePath = (names) => `(^|/node_modules/|^node_modules/)${anyOf(names)}(/|$)`;
/** What dependency-cruiser calls the modules that are neither files of ours nor npm packages. */
const NOT_PACKAGES = ["core", "local", "localmodule", "aliased-subpath-import", "undetermined"];

/** `self` is what counts as inside when `from` has a capture that only `to` can name. */
function doors(name, from, allowed, { packages = [], self = from } = {}) {
  const known = [
    OURS,
    "^\\.(?!.*node_modules/)",
    ...(packages.length === 0 ? [] : [packagePath(packages)]),
  ];
  return [
    {
      name: `${name}-doors`,
      severity: "error",
      comment: `${name} may import only: ${allowed.join(" ") || "nothing"}`,
      from: { path: from },
      to: { path: OURS, pathNot: [self, ...allowed] },
    },
    {
      name: `${name}-packages`,
      severity: "error",
      comment: `${name} may use only the packages: ${packages.join(", ") || "none"}`,
      from: { path: from },
      to: { dependencyTypesNot: NOT_PACKAGES, pathNot: known },
    },
  ];
}

/** Entries that do without optional packages, then the crawler's own. */
const CORE_ENTRIES = ["index", "pool", "worker", "tools"];
const ALL_ENTRIES = anyOf([...CORE_ENTRIES, "crawl", "server", "redis", "crawlee", "testing"]);
const ENTRIES = `^(src/${ALL_ENTRIES}\\.ts|dist/${ALL_ENTRIES}\\.(js|d\\.ts))$`;
const PROTOCOL = "^src/workers/protocol";
const REMOTE = "^src/workers/(?!pool)";

module.exports = {
  forbidden: [
    ...doors("assembly", "^assembly/", ["^src/layout/"]),
    ...Object.entries(ROOMS).flatMap(([room, [rooms, packages]]) =>
      doors(room, `^src/${room}/`, inRooms(rooms), { packages }),
    ),
    // The owner's side sees the frontier; protocol and remote do not, and do not see the pool.
    ...doors("pool", "^src/workers/pool", [...inRooms([...WORKER_ROOMS, "frontier"]), PROTOCOL], {
      packages: ["piscina"],
    }),
    ...doors("remote", REMOTE, inRooms(WORKER_ROOMS), { packages: ["msgpackr"] }),
    // A capture of `from` is known in `to`: one integration does not see another.
    ...doors(
      "integrations",
      "^src/integrations/((?!redis/)[^/]+)/",
      [
        ...inRooms(["base"]),
        ...["^src/persistence/tier", "^src/index\\.ts$"],
        "^src/engine/api/(work-left|open-frontier)\\.ts$",
      ],
      { packages: ["lmdb"], self: "^src/integrations/$1/" },
    ),
    // A frontier of its own: what is decided here is decided by the rooms that decide it elsewhere.
    ...doors(
      "redis",
      "^src/integrations/redis/",
      inRooms([...WORKER_ROOMS, "frontier", "persistence", "engine"]),
      { packages: ["ioredis"] },
    ),
    ...doors("crawl", "^src/crawl/", [...inRooms(["base"]), `^src/${anyOf(CORE_ENTRIES)}\\.ts$`], {
      packages: ["undici", "htmlparser2"],
    }),
    ...doors(
      "server",
      "^src/server/",
      [
        ...inRooms(["base"]),
        `^src/${anyOf([...CORE_ENTRIES, "redis"])}\\.ts$`,
        "^src/engine/api/(edit-records|first-records|keep-finished)\\.ts$",
        "^src/engine/api/(held-leases|push-list|unit-blocks)\\.ts$",
      ],
      { packages: ["@opentelemetry/api"] },
    ),
    // The command line answers an unknown word as the library answers an unknown option.
    ...doors("cli", "^src/cli/", [ENTRIES, "^src/base/did-you-mean\\.ts$"]),
    ...doors("examples", "^examples/", [ENTRIES], { packages: ["outrider", "@crawlee/cheerio"] }),
    ...doors("index-entry", "^src/index\\.ts$", inRooms(["engine", "frontier", "url", "base"])),
    ...doors("pool-entry", "^src/pool\\.ts$", [
      "^src/workers/pool",
      ...inRooms(["engine", "base"]),
    ]),
    ...doors("worker-entry", "^src/worker\\.ts$", [REMOTE, ...inRooms(["base"])]),
    ...doors("crawl-entry", "^src/crawl\\.ts$", inRooms(["crawl", "base"])),
    ...doors("server-entry", "^src/server\\.ts$", inRooms(["server", "base"])),
    ...doors("tools-entry", "^src/tools\\.ts$", inRooms(["engine", "base"])),
    ...doors("redis-entry", "^src/redis\\.ts$", ["^src/integrations/redis/", ...inRooms(["base"])]),
    ...doors("testing-entry", "^src/testing\\.ts$", inRooms(["crawl", "base"])),
    ...doors("crawlee-entry", "^src/crawlee\\.ts$", [
      "^src/integrations/crawlee/",
      ...inRooms(["base"]),
    ]),
    ...doors("thread-entry", "^src/thread\\.c?ts$", [
      ...["^src/(thread|worker)\\.ts$", "^src/workers/remote/worker-loop\\.ts$"],
      ...[
        "^src/engine/owner-thread/owner-thread\\.ts$",
        "^src/crawl/(threads/visit|synthetic-web/web)-thread\\.ts$",
      ],
    ]),
    {
      name: "bench-doors",
      severity: "error",
      comment: "benchmarks measure the package; they do not lean on tests, examples or tools",
      from: { path: "^bench/" },
      to: { path: OURS, pathNot: ["^bench/", "^src/", "^dist/"] },
    },
    {
      name: "spill-doors",
      severity: "error",
      comment: "what is on disk shows in three files of frontier; all others ask those",
      from: {
        path: "^src/frontier/",
        pathNot: "^src/frontier/scheduling/spill-(control|hosts|state)\\.ts$",
      },
      to: { path: "^src/structures/spill/" },
    },
    {
      name: "no-platform",
      severity: "error",
      comment: "no file, socket, thread or timer module below room 5 (bytes may be a Buffer)",
      from: { path: `^src/${anyOf([...WORKER_ROOMS, "frontier"])}/` },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?buffer$" },
    },
    {
      name: "no-optional",
      severity: "error",
      comment: "the core never loads an optional dependency, not even through others",
      from: { path: `^src/${anyOf(CORE_ENTRIES)}\\.ts$` },
      to: { path: packagePath(OPTIONAL_PACKAGES), reachable: true },
    },
    {
      name: "no-cycle",
      severity: "error",
      comment: "no import cycles, types included",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-dead-end",
      severity: "error",
      comment: "every import of a file of ours leads somewhere",
      from: { path: "^(src|assembly|bench|examples)/" },
      to: { couldNotResolve: true, path: "^\\." },
    },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "^dist/"] },
    exclude: { path: "^test/tidy/fixtures/" },
    tsPreCompilationDeps: true,
    detectJSDocImports: true,
    enhancedResolveOptions: {
      // asc names its imports without an extension.
      extensions: [".ts", ".mjs", ".js", ".cjs", ".json", ".d.ts"],
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
      mainFields: ["module", "main", "types"],
    },
  },
};
