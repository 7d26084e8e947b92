/**
 * Files in memory that fail on demand: a disk with a capacity, a power cut at the n-th call, unsynced bytes that vanish
 * or tear. Durable bytes are kept apart from visible ones.
 */
import type { Random } from "../../src/base/random.ts";
import type { Files } from "../../src/persistence/files.ts";

export interface MemoryFiles extends Files {
  /** Calls so far that changed something. */
  changes: number;
  /** The call of this number, and every later one, throws PowerCut. */
  cutAt: number;
  /** Most bytes of all files together. */
  capacity: number;
  /** The call of this number throws EIO once. */
  failAt: number;
  /**
   * The next sync of a file from this change on throws EIO once, and its unwritten bytes are dropped: the system considers the file
   * clean, shows it as before, and no later sync writes it.
   */
  dropAt: number;
  /** Syncs so far, of files and directories. */
  syncs: number;
  /** Reads so far: [bytes asked for, position] of each. */
  readonly reads: Array<[length: number, position: number]>;
  /** The disk after power comes back; unsynced bytes are there, gone or torn, by `random`. */
  afterCut(random: Random): MemoryFiles;
  /** The disk as a killed process leaves it: everything visible as before, and unsynced bytes still unsynced. */
  afterKill(): MemoryFiles;
  /** The visible bytes of a file, to read and to damage. */
  bytesOf(path: string): Uint8Array;
  setBytes(path: string, bytes: Uint8Array): void;
  names(): string[];
  openCount(): number;
}

export class PowerCut extends Error {}

interface Node {
  /** Visible bytes; a view of a larger buffer while the file grows. */
  bytes: Uint8Array;
  /** Visible bytes at the last sync. */
  durable: Uint8Array;
  /** First byte at which the two may differ: a sync copies only from there, since files have room written ahead. */
  dirtyFrom: number;
  dirtyTo: number;
  /** Visible, and never to be written: a sync of it failed, and it was not written again. */
  dropped: ReadonlyArray<readonly [from: number, to: number]>;
}

interface Disk {
  readonly files: Pick<
    MemoryFiles,
    "changes" | "cutAt" | "capacity" | "failAt" | "dropAt" | "syncs" | "reads"
  >;
  readonly names: Map<string, Node>;
  readonly durableNames: Map<string, Node>;
  readonly open: Map<number, Node>;
  nextFile: number;
}

export function createMemoryFiles(
  names = new Map<string, Node>(),
  durableNames = new Map<string, Node>(),
): MemoryFiles {
  const counts = { changes: 0, failAt: 0, syncs: 0, reads: [] };
  const files = {
    ...counts,
    cutAt: Number.POSITIVE_INFINITY,
    dropAt: Number.POSITIVE_INFINITY,
    capacity: Number.POSITIVE_INFINITY,
  };
  const disk: Disk = { files, names, durableNames, open: new Map(), nextFile: 3 };
  return Object.assign(files, contentCalls(disk), nameCalls(disk), LATER_CALLS, {
    afterCut: (random: Random) => afterCut(disk, random),
    afterKill: () => afterKill(disk),
    bytesOf: (path: string) => named(disk, path).bytes,
    setBytes(path: string, bytes: Uint8Array) {
      const node = named(disk, path);
      node.bytes = bytes;
      soil(node, 0, bytes.length);
    },
    names: () => [...names.keys()],
    openCount: () => disk.open.size,
  });
}

type ContentCall = "open" | "close" | "read" | "write" | "size" | "truncate" | "sync";

function contentCalls(disk: Disk): Pick<Files, ContentCall> {
  const { files, names, open } = disk;
  return {
    open(path, flags) {
      if (flags === "r" || flags === "r+") named(disk, path);
      else {
        if (flags === "wx" && names.has(path)) throw failure("EEXIST");
        change(disk);
        if (flags === "w" || !names.has(path)) names.set(path, nodeOfBytes(new Uint8Array(0)));
      }
      open.set(disk.nextFile, named(disk, path));
      return disk.nextFile++;
    },
    close(file) {
      nodeOf(disk, file);
      open.delete(file);
    },
    read(...[file, bytes, start, length, position]) {
      files.reads.push([length, position]);
      const part = nodeOf(disk, file).bytes.subarray(position, position + length);
      bytes.set(part, start);
      return part.length;
    },
    write(...[file, bytes, start, length, position]) {
      change(disk);
      const node = nodeOf(disk, file);
      const at = position ?? node.bytes.length;
      // Every other write is short, as the platform allows.
      const size = files.changes % 2 === 0 && length > 1 ? length >> 1 : length;
      const grows = Math.max(0, at + size - node.bytes.length);
      if (usedOf(disk) + grows > files.capacity) throw failure("ENOSPC");
      soil(node, Math.min(at, node.bytes.length), at + size);
      node.bytes = roomFor(node.bytes, at + size);
      node.bytes.set(bytes.subarray(start, start + size), at);
      return size;
    },
    size: (file) => nodeOf(disk, file).bytes.length,
    truncate(file, size) {
      change(disk);
      const node = nodeOf(disk, file);
      node.bytes = node.bytes.slice(0, size);
      soil(node, size, size);
    },
    sync(file) {
      change(disk);
      files.syncs += 1;
      const node = nodeOf(disk, file);
      if (files.changes >= files.dropAt) {
        files.dropAt = Number.POSITIVE_INFINITY;
        drop(node);
        throw failure("EIO");
      }
      const { bytes, dropped } = node;
      const from = Math.min(node.dirtyFrom, bytes.length);
      const to = Math.min(node.dirtyTo, bytes.length);
      const before = dropped.map(([start, end]) => node.durable.slice(start, end));
      node.durable = roomFor(node.durable, bytes.length).subarray(0, bytes.length);
      node.durable.set(bytes.subarray(from, to), from);
      for (const [at, [start, end]] of dropped.entries()) {
        node.durable.fill(0, start, end);
        node.durable.set((before[at] as Uint8Array).subarray(0, bytes.length - start), start);
      }
      clean(node);
    },
  };
}

/** Calls beside the thread are done at once, by the current `write` and `sync` of the files. */
const LATER_CALLS: Pick<Files, "writeLater" | "syncLater"> & ThisType<Files> = {
  writeLater(file, part, position, done) {
    let wrote = 0;
    const error = faultOf(() => {
      wrote = this.write(file, part, 0, part.length, position);
    });
    done(error, wrote);
  },
  syncLater(file, done) {
    done(faultOf(() => this.sync(file)));
  },
};

function nameCalls(disk: Disk): Omit<Files, ContentCall | keyof typeof LATER_CALLS> {
  const { files, names, durableNames } = disk;
  return {
    rename(from, to) {
      change(disk);
      const node = named(disk, from);
      names.delete(from);
      names.set(to, node);
    },
    link(from, to) {
      if (names.has(to)) throw failure("EEXIST");
      change(disk);
      names.set(to, named(disk, from));
    },
    remove(path) {
      change(disk);
      named(disk, path);
      names.delete(path);
    },
    list: (directory) =>
      [...names.keys()]
        .filter((path) => path.startsWith(`${directory}/`))
        .map((path) => path.slice(directory.length + 1)),
    exists: (path) =>
      names.has(path) || [...names.keys()].some((name) => name.startsWith(`${path}/`)),
    makeDirectory() {},
    removeDirectory() {},
    syncDirectoryLater(path, done) {
      done(faultOf(() => this.syncDirectory(path)));
    },
    syncDirectory() {
      change(disk);
      files.syncs += 1;
      durableNames.clear();
      for (const [path, node] of names) durableNames.set(path, node);
    },
  };
}

/** Each name is as the last sync of the directory left it, or as it was visible: the platform may do either. */
function afterCut(disk: Disk, random: Random): MemoryFiles {
  const { names, durableNames } = disk;
  const kept = new Map<string, Node>();
  for (const path of new Set([...names.keys(), ...durableNames.keys()])) {
    const node = (random.below(2) === 0 ? names : durableNames).get(path);
    if (node !== undefined) kept.set(path, nodeOfBytes(torn(node, random)));
  }
  return createMemoryFiles(kept, new Map(kept));
}

function afterKill({ names, durableNames }: Disk): MemoryFiles {
  const copies = new Map<Node, Node>();
  const copyOf = (node: Node): Node => {
    const { bytes, durable } = node;
    const copy = copies.get(node) ?? { ...node, bytes: bytes.slice(), durable: durable.slice() };
    copies.set(node, copy);
    return copy;
  };
  const copied = (map: Map<string, Node>): Map<string, Node> =>
    new Map([...map].map(([path, node]) => [path, copyOf(node)]));
  return createMemoryFiles(copied(names), copied(durableNames));
}

function change({ files }: Disk): void {
  files.changes += 1;
  if (files.changes >= files.cutAt) throw new PowerCut();
  if (files.changes === files.failAt) throw failure("EIO");
}

/** The disk's error, or the lack of power: a wait beside the thread fails with either, as with a disk that is gone. */
function faultOf(call: () => void): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return error;
  }
}

function nodeOf(disk: Disk, file: number): Node {
  const node = disk.open.get(file);
  if (node === undefined) throw failure("EBADF");
  return node;
}

function named(disk: Disk, path: string): Node {
  const node = disk.names.get(path);
  if (node === undefined) throw failure("ENOENT");
  return node;
}

function usedOf(disk: Disk): number {
  let used = 0;
  for (const node of disk.names.values()) used += node.bytes.length;
  return used;
}

/** The bytes with room up to `end`: buffers double, so that a file written block by block is copied seldom. */
function roomFor(bytes: Uint8Array, end: number): Uint8Array {
  if (end <= bytes.length) return bytes;
  if (bytes.byteOffset === 0 && end <= bytes.buffer.byteLength)
    return new Uint8Array(bytes.buffer, 0, end);
  const whole = new Uint8Array(Math.max(end, bytes.length * 2));
  whole.set(bytes);
  return whole.subarray(0, end);
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A file whose bytes are durable. */
function nodeOfBytes(bytes: Uint8Array): Node {
  const node = { bytes, durable: bytes.slice(), dirtyFrom: 0, dirtyTo: 0, dropped: [] };
  clean(node);
  return node;
}

/** From here to there the durable bytes may differ. */
function soil(node: Node, from: number, to: number): void {
  node.dirtyFrom = Math.min(node.dirtyFrom, from);
  node.dirtyTo = Math.max(node.dirtyTo, to);
  if (node.dropped.length > 0)
    node.dropped = node.dropped.flatMap((each) => without(each, from, to));
}

/** The parts of one stretch outside another. */
function without(
  [start, end]: readonly [number, number],
  from: number,
  to: number,
): Array<readonly [number, number]> {
  const parts = [[start, Math.min(end, from)] as const, [Math.max(start, to), end] as const];
  return parts.filter(([first, last]) => first < last);
}

function drop(node: Node): void {
  const { bytes, dirtyFrom, dirtyTo } = node;
  if (dirtyFrom < dirtyTo) {
    node.dropped = [...node.dropped, [dirtyFrom, Math.min(dirtyTo, bytes.length)]];
  }
  clean(node);
}

function clean(node: Node): void {
  node.dirtyFrom = Number.POSITIVE_INFINITY;
  node.dirtyTo = 0;
}

/** Durable bytes, with any prefix of the rest and noise in place of unsynced bytes. */
function torn(node: Node, random: Random): Uint8Array {
  const { bytes, durable } = node;
  const size = durable.length + random.below(Math.max(1, bytes.length - durable.length + 1));
  const result = bytes.slice(0, Math.min(size, bytes.length));
  for (let at = Math.min(node.dirtyFrom, result.length); at < result.length; at++) {
    const isSynced = at < durable.length && durable[at] === bytes[at];
    if (!isSynced && random.below(64) === 0) result[at] = random.word() & 255;
  }
  for (const [from, to] of node.dropped) {
    for (let at = from; at < Math.min(to, result.length); at++) result[at] = durable[at] ?? 0;
  }
  return result;
}
