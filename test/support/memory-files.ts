/**
 * Files in memory that fail on demand: a disk with a capacity, a power cut at the n-th call, unsynced bytes that vanish
 * or tear. What is durable is kept apart from what is visible.
 */
import type { Random } from "../../src/base/random.ts";
import type { Files } from "../../src/persistence/files.ts";

interface Node {
  bytes: Uint8Array;
  durable: Uint8Array;
}

export interface MemoryFiles extends Files {
  /** Calls so far that change something. */
  changes: number;
  /** The call of this number, and every later one, throws PowerCut. */
  cutAt: number;
  /** Bytes all files may hold together. */
  capacity: number;
  /** The call of this number throws EIO once. */
  failAt: number;
  /** Reads so far: [bytes asked for, position] of each. */
  readonly reads: Array<[length: number, position: number]>;
  /** The disk after power comes back; unsynced bytes are there, gone or torn as `random` says. */
  afterCut(random: Random): MemoryFiles;
  /** The visible bytes of a file, to look at and to damage. */
  bytesOf(path: string): Uint8Array;
  setBytes(path: string, bytes: Uint8Array): void;
  names(): string[];
  openCount(): number;
}

export class PowerCut extends Error {}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

export function createMemoryFiles(
  names = new Map<string, Node>(),
  durableNames = new Map<string, Node>(),
): MemoryFiles {
  const open = new Map<number, Node>();
  let nextFile = 3;
  const nodeOf = (file: number): Node => {
    const node = open.get(file);
    if (node === undefined) throw failure("EBADF");
    return node;
  };
  const named = (path: string): Node => {
    const node = names.get(path);
    if (node === undefined) throw failure("ENOENT");
    return node;
  };
  const change = (): void => {
    files.changes += 1;
    if (files.changes >= files.cutAt) throw new PowerCut();
    if (files.changes === files.failAt) throw failure("EIO");
  };
  const used = (): number => [...names.values()].reduce((sum, node) => sum + node.bytes.length, 0);
  const files: MemoryFiles = {
    changes: 0,
    cutAt: Number.POSITIVE_INFINITY,
    capacity: Number.POSITIVE_INFINITY,
    failAt: 0,
    reads: [],
    open(path, flags) {
      if (flags === "r" || flags === "r+") named(path);
      else {
        change();
        if (flags === "w" || !names.has(path))
          names.set(path, { bytes: new Uint8Array(0), durable: new Uint8Array(0) });
      }
      open.set(nextFile, named(path));
      return nextFile++;
    },
    close(file) {
      nodeOf(file);
      open.delete(file);
    },
    read(file, bytes, start, length, position) {
      files.reads.push([length, position]);
      const part = nodeOf(file).bytes.subarray(position, position + length);
      bytes.set(part, start);
      return part.length;
    },
    write(file, bytes, start, length, position) {
      change();
      const node = nodeOf(file);
      const at = position ?? node.bytes.length;
      // Every other write is short, as the platform may make it.
      const size = files.changes % 2 === 0 && length > 1 ? length >> 1 : length;
      const end = at + size;
      const grows = Math.max(0, end - node.bytes.length);
      if (used() + grows > files.capacity) throw failure("ENOSPC");
      const whole = new Uint8Array(Math.max(node.bytes.length, end));
      whole.set(node.bytes);
      whole.set(bytes.subarray(start, start + size), at);
      node.bytes = whole;
      return size;
    },
    size: (file) => nodeOf(file).bytes.length,
    truncate(file, size) {
      change();
      const node = nodeOf(file);
      node.bytes = node.bytes.slice(0, size);
    },
    sync(file) {
      change();
      const node = nodeOf(file);
      node.durable = node.bytes.slice();
    },
    rename(from, to) {
      change();
      const node = named(from);
      names.delete(from);
      names.set(to, node);
    },
    remove(path) {
      change();
      named(path);
      names.delete(path);
    },
    list: (directory) =>
      [...names.keys()]
        .filter((path) => path.startsWith(`${directory}/`))
        .map((path) => path.slice(directory.length + 1)),
    makeDirectory() {},
    syncDirectory() {
      change();
      durableNames.clear();
      for (const [path, node] of names) durableNames.set(path, node);
    },
    afterCut(random) {
      // Each name is as the last sync of the directory left it, or as it was seen: the platform may do either.
      const kept = new Map<string, Node>();
      for (const path of new Set([...names.keys(), ...durableNames.keys()])) {
        const node = (random.below(2) === 0 ? names : durableNames).get(path);
        if (node !== undefined)
          kept.set(path, { bytes: torn(node, random), durable: node.durable });
      }
      for (const node of kept.values()) node.durable = node.bytes;
      return createMemoryFiles(kept, new Map(kept));
    },
    bytesOf: (path) => named(path).bytes,
    setBytes(path, bytes) {
      named(path).bytes = bytes;
    },
    names: () => [...names.keys()],
    openCount: () => open.size,
  };
  return files;
}

/** Durable bytes, with any prefix of the rest and noise in place of what was not synced. */
function torn(node: Node, random: Random): Uint8Array {
  const { bytes, durable } = node;
  const size = durable.length + random.below(Math.max(1, bytes.length - durable.length + 1));
  const result = bytes.slice(0, Math.min(size, bytes.length));
  for (let at = 0; at < result.length; at++) {
    const isSynced = at < durable.length && durable[at] === bytes[at];
    if (!isSynced && random.below(64) === 0) result[at] = random.word() & 255;
  }
  return result;
}
