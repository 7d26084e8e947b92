/**
 * Overlay: a directory as it was at one moment. Its user reads the directory and changes nothing there: writes, renames and removals
 * stay in a temporary folder and in these maps.
 *
 *   name ─▶ gone     removed here
 *        ─▶ made     made, changed or renamed here: a file of the folder, or another pinned one
 *        ─▶ pinned   the directory's own file, opened for reading at the start
 *
 *   O1  No call of these files opens a path of the directory except for reading, or changes a name in it.
 *   O2  A file is copied whole before it is changed.
 *   O3  The files of the start stay readable even when their owner removes them, because they are held open. Reads pass
 *       their position, so one opening serves all.
 *
 * Crash: the temporary folder is left; no program reads it.
 */
import { dirname, join } from "node:path";
import { copyOpen, type Files, removeFolder, temporaryFolder } from "../files.ts";

/** Attempts to pin a directory whose files vanish meanwhile. */
const TRIES = 16;

interface State {
  readonly under: Files;
  readonly folder: string;
  /** Paths of the directory, and the files they were opened as. */
  readonly pinned: ReadonlyMap<string, number>;
  /** Names whose bytes are at another path. */
  readonly made: Map<string, string>;
  readonly gone: Set<string>;
  count: number;
}

/** `directories`: their files are pinned; `hidden`: paths that must not appear. */
export function openOverlay(
  under: Files,
  directories: readonly string[],
  hidden: readonly string[],
) {
  const pinned = pinAll(under, directories);
  const state: State = {
    ...{ under, pinned, folder: temporaryFolder(), count: 0 },
    ...{ made: new Map(), gone: new Set(hidden) },
  };
  const close = (): void => {
    for (const file of pinned.values()) under.close(file);
    removeFolder(state.folder);
  };
  return {
    files: {
      ...under,
      ...contentCalls(state),
      ...nameCalls(state),
    } /** Closes every file and removes the temporary folder. */,
    close,
  };
}

function contentCalls(state: State): Pick<Files, "open" | "close" | "sync" | "syncLater"> {
  const { under, pinned } = state;
  const shared = new Set(pinned.values());
  return {
    open(path, flags) {
      if (flags === "r") {
        const at = pathOf(state, path);
        return pinned.get(at) ?? under.open(at, "r");
      }
      if (flags === "wx" && isThere(state, path)) throw refusal("EEXIST", path);
      if (flags === "r+" || (flags === "a" && isThere(state, path))) {
        return under.open(ownCopy(state, path), flags);
      }
      return under.open(freshFile(state, path), flags);
    },
    close(file) {
      if (!shared.has(file)) under.close(file); // O3
    },
    sync() {},
    syncLater: (_file, done) => done(undefined),
  };
}

type NameCall =
  | "exists"
  | "rename"
  | "link"
  | "remove"
  | "list"
  | "makeDirectory"
  | "removeDirectory"
  | "syncDirectory"
  | "syncDirectoryLater";

function nameCalls(state: State): Pick<Files, NameCall> {
  const { made, gone, pinned } = state;
  const put = (path: string, at: string): void => {
    made.set(path, at);
    gone.delete(path);
  };
  const take = (path: string): string => {
    const at = pathOf(state, path);
    made.delete(path);
    gone.add(path);
    return at;
  };
  return {
    exists: (path) => isThere(state, path),
    rename: (from, to) => put(to, take(from)),
    link(from, to) {
      if (isThere(state, to)) throw refusal("EEXIST", to);
      put(to, pathOf(state, from));
    },
    remove: (path) => void take(path),
    list(directory) {
      const paths = new Set([...pinned.keys(), ...made.keys()]);
      return [...paths]
        .filter((path) => dirname(path) === directory && isThere(state, path))
        .map((path) => path.slice(directory.length + 1));
    },
    makeDirectory() {},
    removeDirectory() {},
    syncDirectory() {},
    syncDirectoryLater: (_path, done) => done(undefined),
  };
}

function isThere({ made, gone, pinned }: State, path: string): boolean {
  if (made.has(path)) return true;
  if (gone.has(path)) return false;
  if (pinned.has(path)) return true;
  return [...pinned.keys(), ...made.keys()].some((name) => dirname(name) === path);
}

/** Path at which the bytes of a name are. */
function pathOf({ made, gone, pinned }: State, path: string): string {
  const at = made.get(path);
  if (at !== undefined) return at;
  if (gone.has(path) || !pinned.has(path)) throw refusal("ENOENT", path);
  return path;
}

function freshFile(state: State, path: string): string {
  const at = join(state.folder, String(++state.count));
  state.made.set(path, at);
  state.gone.delete(path);
  return at;
}

/** The temporary file of a name; a file of the directory is copied first (O2). */
function ownCopy(state: State, path: string): string {
  const at = pathOf(state, path);
  const file = state.pinned.get(at);
  if (file === undefined) return at;
  const copy = freshFile(state, path);
  copyOpen(state.under, { source: file, from: at }, copy);
  return copy;
}

function pinAll(under: Files, directories: readonly string[]): Map<string, number> {
  for (let tries = 1; ; tries++) {
    const pinned = new Map<string, number>();
    try {
      for (const directory of directories) pinFiles(under, directory, pinned);
      return pinned;
    } catch (error) {
      for (const file of pinned.values()) under.close(file);
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === TRIES) throw error;
    }
  }
}

function pinFiles(under: Files, directory: string, pinned: Map<string, number>): void {
  if (!under.exists(directory)) return;
  for (const name of under.list(directory)) {
    if (!/\.(log|msgpack|damaged|cold|manifest|sha1)$|^(lock|discarded)$/.test(name)) continue;
    const path = join(directory, name);
    pinned.set(path, under.open(path, "r"));
  }
}

function refusal(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, syscall: "open", path });
}
