/**
 * Directory lock: one live process per frontier directory. The file names its owner so that a dead one is told from a living one,
 * also when its pid has been given to another process since.
 *
 *   lock = { pid, started, boot, space, host, nonce }      started: clock ticks since boot, from /proc
 *
 *   free ── create, exclusively ─▶ held ── close ─▶ free
 *   held by the dead ── claim of its nonce, exclusively ─▶ still the same? ── rename over it ─▶ held
 *                          └ held by the dead ── claim of the claimant's nonce, exclusively ─▶ …
 *
 *   L1  Only who holds the last claim of a lock replaces that lock; a nonce is never used twice. A claim that others may build on is never
 *       removed while its lock stands: not when its claimant is dead, for two who see that would make and remove each other's.
 *       Whoever claims late, when the lock was replaced and the claims are gone, finds another lock, which never becomes the old one again.
 *   L2  An owner that can not be judged (another machine's, another container's) counts as living.
 *   L3  A lock that could not be had changes nothing.
 *   L4  What stands in the file is believed only where it is as an owner writes it; nothing of it becomes part of a path unchecked.
 *
 * Crash: lock.*.tmp and lock.*.claim may be left; the next owner removes those of nobody that lives.
 */
import { join } from "node:path";
import { FrontierError } from "../../base/errors.ts";
import { entropyWords } from "../../base/random.ts";
import { type Files, readFile, writeAll } from "../files.ts";
import type { Place } from "./frontier-directory.ts";

/** What tells one process of all time and place from every other. */
interface ProcessFacts {
  readonly pid: number;
  /** Start time in clock ticks since boot; "" where the system does not say. */
  readonly started: string;
  readonly boot: string;
  /** The space that pids are given in; containers have their own. */
  readonly space: string;
  readonly host: string;
}

/** What the lock asks the system. */
export interface ProcessTable {
  readonly self: ProcessFacts;
  isRunning(pid: number): boolean;
  /** Start time of a running process; "" where the system does not say. */
  startedOf(pid: number): string;
}

interface Owner extends ProcessFacts {
  readonly nonce: string;
}

export interface Lock {
  readonly path: string;
  readonly nonce: string;
}

const LOCK_NAME = "lock";
/** More than any owner writes. */
const LOCK_BYTES_MAX = 64 * 1024;
/** A lock that changes hands this often while one looks has busy owners: one of them is alive. */
const TRIES = 8;
/** So many that died one after the other between claiming a lock and taking it are no accident. */
const CLAIMS_MAX = 64;

export function lockPath({ directory }: Place): string {
  return join(directory, LOCK_NAME);
}

/** Takes the lock of a directory; throws FRONTIER_LOCKED naming the owner. */
export function takeLock(place: Place, table: ProcessTable, nonce = newNonce()): Lock {
  const { files } = place;
  const path = join(place.directory, LOCK_NAME);
  const owner: Owner = { ...table.self, nonce };
  let gone = 0;
  for (let tries = 0; tries < TRIES; tries++) {
    if (tryCreate(files, path, owner)) return swept(place, table, { path, nonce });
    const other = readOwner(files, path);
    if (other === "gone") {
      gone++;
      continue;
    }
    if (other !== "unreadable" && isAlive(table, other)) throw locked(path, other);
    if (takeOver({ files, path, table }, other, owner)) {
      return swept(place, table, { path, nonce });
    }
  }
  throw gone < TRIES ? locked(path, undefined) : pointless(path);
}

function newNonce(): string {
  return Array.from(entropyWords(4), (word) => word.toString(16).padStart(8, "0")).join("");
}

/** Removes what openings that were killed left beside the lock that is held now. */
function swept({ files, directory }: Place, table: ProcessTable, lock: Lock): Lock {
  for (const name of files.list(directory)) {
    if (!/^lock\..+\.(?:tmp|claim)$/.test(name)) continue;
    const path = join(directory, name);
    try {
      const owner = readOwner(files, path);
      if (typeof owner === "string" || !isAlive(table, owner)) drop(files, path);
    } catch {
      // It can not be read: whoever made it is to remove it.
    }
  }
  return lock;
}

/** Removes what is in nobody's way where it stays: the next owner tries again. */
function drop(files: Files, path: string): void {
  try {
    files.remove(path);
  } catch {
    // Gone already, or a directory that takes no change any more: what was said before stands.
  }
}

/** Gives the lock back, if it still is this one. */
export function giveLock({ files }: Place, lock: Lock): void {
  const owner = readOwner(files, lock.path);
  if (typeof owner === "object" && owner.nonce === lock.nonce) files.remove(lock.path);
}

/** The lock as it stands now, whoever holds it; undefined: there is none to be read. */
export function heldLock({ files, directory }: Place): Lock | undefined {
  const path = join(directory, LOCK_NAME);
  const owner = readOwner(files, path);
  return typeof owner === "object" ? { path, nonce: owner.nonce } : undefined;
}

/** Who has the directory open now; undefined: nobody that lives. */
export function lockOwner(place: Place, table: ProcessTable): ProcessFacts | undefined {
  const owner = readOwner(place.files, join(place.directory, LOCK_NAME));
  return typeof owner === "object" && isAlive(table, owner) ? owner : undefined;
}

/**
 * Makes the file with all of its bytes at once: written beside, then linked under its name if that is free. False: it is not, or a new
 * owner swept away what was not whole yet.
 */
function tryCreate(files: Files, path: string, owner: Owner): boolean {
  const beside = `${path}.${owner.nonce}.tmp`;
  const file = files.open(beside, "w");
  try {
    try {
      writeAll(files, file, textOf(owner), 0);
      files.sync(file);
    } finally {
      files.close(file);
    }
    files.link(beside, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || (code === "ENOENT" && !files.exists(beside))) return false;
    throw error;
  } finally {
    drop(files, beside);
  }
}

/** Replaces a dead owner's lock (L1); false: somebody else was there first. */
function takeOver(
  { files, path, table }: { files: Files; path: string; table: ProcessTable },
  dead: Owner | "unreadable",
  owner: Owner,
): boolean {
  let claim = claimOf(path, path, dead);
  for (let claims = 1; !tryCreate(files, claim, owner); claims++) {
    const claimant = readOwner(files, claim);
    if (claimant === "gone" || claims === CLAIMS_MAX) return false;
    if (claimant !== "unreadable" && isAlive(table, claimant)) return false;
    claim = claimOf(path, claim, claimant);
  }
  const now = readOwner(files, path);
  const isSame =
    typeof now === "object" && typeof dead === "object" ? now.nonce === dead.nonce : now === dead;
  // The claim names its owner as a lock does, and becomes one.
  if (isSame) files.rename(claim, path);
  else drop(files, claim);
  return isSame;
}

/** Where the one who is to follow the owner of a lock or claim, which stands at `held`, says so. */
function claimOf(path: string, held: string, owner: Owner | "unreadable"): string {
  return owner === "unreadable" ? `${held}.unreadable.claim` : `${path}.${owner.nonce}.claim`;
}

function readOwner(files: Files, path: string): Owner | "gone" | "unreadable" {
  try {
    const bytes = readFile(files, path, LOCK_BYTES_MAX);
    if (bytes === undefined) return "gone";
    const owner: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    return isOwner(owner) ? owner : "unreadable";
  } catch (error) {
    // What the system says is no content.
    if (typeof (error as NodeJS.ErrnoException).syscall === "string") throw error;
    return "unreadable";
  }
}

/** L4 */
function isOwner(value: unknown): value is Owner {
  if (typeof value !== "object" || value === null) return false;
  const { pid, nonce, started, boot, space, host } = value as Record<string, unknown>;
  if (!Number.isSafeInteger(pid) || (pid as number) <= 0) return false;
  if (typeof nonce !== "string" || !/^[0-9a-f]{32}$/.test(nonce)) return false;
  return [started, boot, space, host].every((text) => typeof text === "string");
}

function isAlive(table: ProcessTable, owner: Owner): boolean {
  const { self } = table;
  if (owner.host !== self.host || owner.space !== self.space) {
    // Another boot of this very machine is over; anything else can not be judged (L2).
    return !(owner.host === self.host && owner.boot !== "" && owner.boot !== self.boot);
  }
  if (owner.boot !== self.boot) return false;
  if (!table.isRunning(owner.pid)) return false;
  const started = table.startedOf(owner.pid);
  return started === "" || owner.started === "" || started === owner.started;
}

function textOf(owner: Owner): Uint8Array {
  return Buffer.from(`${JSON.stringify(owner)}\n`, "utf8");
}

function locked(path: string, owner: Owner | undefined): FrontierError {
  const who = owner === undefined ? "in use" : `in use by process ${owner.pid} on ${owner.host}`;
  const advice =
    "one process at a time; close the other one, or remove the file if that machine is gone";
  return new FrontierError("FRONTIER_LOCKED", `${path}: ${who} (expected: ${advice})`, {
    path,
    ...(owner === undefined ? {} : { pid: owner.pid, host: owner.host }),
  });
}

function pointless(path: string): FrontierError {
  const message = `${path}: a link without a target (expected: a file; remove the link)`;
  return new FrontierError("DISK_FAILED", message, { path });
}
