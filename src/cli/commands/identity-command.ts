/**
 * `outrider identity`: the keys by which a crawler proves who it is.
 *
 *   new <file>         makes a key and adds it; of a file that has one, the new one signs after a day, when its directory is known
 *   directory <file>   what the site of `agent` has to answer, signed for a day
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type IdentityFile, openIdentity, withNewKey } from "../../crawl.ts";
import { createSystemClock } from "../../index.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";
import { EXIT_OK, type Io } from "../io.ts";

export const IDENTITY_FLAGS: readonly Flag[] = [
  { name: "agent", value: "<url>", text: "new: the site that publishes the directory" },
  { name: "from", value: "<date>", text: "new: the key signs from then on" },
  { name: "json", text: "one JSON object" },
];

const DAY_MS = 86_400_000;

export async function identityCommand(args: Parsed, io: Io): Promise<number> {
  const [what, path] = args.words;
  if (what !== "new" && what !== "directory")
    throw new UsageError(`identity: ${what ?? "nothing"} (expected: new or directory)`);
  if (path === undefined) throw new UsageError(`identity ${what}: no file`);
  return what === "new" ? addKey(args, io, path) : printDirectory(args, io, path);
}

async function addKey(args: Parsed, io: Io, path: string): Promise<number> {
  const before = existsSync(path) ? readIdentity(path) : { keys: [] };
  const isFirst = before.keys.length === 0;
  const nowMs = createSystemClock().now();
  const file = await withNewKey(before, {
    agent: args.text("agent"),
    validFrom: args.text("from") ?? (isFirst ? undefined : nowMs + DAY_MS),
  });
  const fresh = `${path}.new`;
  writeFileSync(fresh, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, path);
  const { agent, keys } = file;
  const from = keys.at(-1)?.validFrom;
  if (args.has("json")) {
    io.out(`${JSON.stringify({ path, agent, keys: keys.length, validFrom: from })}\n`);
    return EXIT_OK;
  }
  io.out(`${path}: ${keys.length} ${keys.length === 1 ? "key" : "keys"}; keep it secret\n`);
  io.out(`the new key signs ${from === undefined ? "at once" : `from ${from} on`}\n`);
  io.out(
    agent === undefined
      ? "no site publishes it: --agent <url> names one\n"
      : `to publish at ${agent}: outrider identity directory ${path}\n`,
  );
  return EXIT_OK;
}

async function printDirectory(args: Parsed, io: Io, path: string): Promise<number> {
  const identity = await openIdentity(path);
  const directory = identity.directory(createSystemClock().now());
  if (args.has("json")) {
    io.out(`${JSON.stringify(directory)}\n`);
    return EXIT_OK;
  }
  const headers = Object.entries(directory.headers).map(([name, value]) => `${name}: ${value}\n`);
  io.out(`GET ${identity.agent}${directory.path}\n\n${headers.join("")}\n${directory.body}\n`);
  return EXIT_OK;
}

function readIdentity(path: string): IdentityFile {
  try {
    const given = JSON.parse(readFileSync(path, "utf8")) as IdentityFile;
    if (Array.isArray(given.keys)) return given;
  } catch {}
  throw new UsageError(`identity: ${path} (expected: a file with { agent, keys } as JSON)`);
}
