/**
 * Directory lock: one live process per frontier directory. The file identifies its owner, so that a dead owner is distinguished from a
 * live one even after its pid was given to another process.
 *
 *   lock = { pid, started, boot, space, host, nonce }      started: clock ticks since boot, from /proc
 *
 *   free ── create, exclusively ─▶ held ── close ─▶ free
 *   owner dead ── claim of its nonce, exclusively ─▶ lock unchanged? ── rename the claim over it ─▶ held
 *                   └ claimant dead ── claim of the claimant's nonce, exclusively ─▶ …
 *
 *   L1  Only the holder of the last claim of a lock replaces that lock; a nonce is never used twice. A claim on which others may build
 *       stays as long as its lock, even when its claimant is dead: two processes that saw the death could otherwise create and remove
 *       each other's claims. A late claimant, after the lock was replaced and the claims were removed, finds another lock, which never
 *       becomes the old one again.
 *   L2  An owner that cannot be checked (on another machine, in another container) counts as alive.
 *   L3  A failed attempt to take the lock changes nothing.
 *   L4  The content of the file is trusted only in the form that an owner writes; nothing of it becomes part of a path unchecked.
 *
 * Crash: lock.*.tmp and lock.*.claim may be left; the next owner removes those without a live owner.
 */
import { join } from "node:path";
import { FrontierError } from "../../base/errors.ts";
import { entropyWords } from "../../base/random.ts";
import { type Files, readFile, writeAll, attempt } from "../files.ts";
import type { Place } from "./frontier-directory.ts";

/** Identifies one process among those of all machines and all boots. */
interface ProcessFacts {
  readonly pid: number;
  /** Start time in clock ticks since boot; "" where the system does not report it. */
  readonly started: string;
  readonly boot: string;
  /** The pid namespace; containers have their own. */
  readonly space: string;
  readonly host: string;
}

/** Information about processes that the lock needs. */
export interface ProcessTable {
  readonly self: ProcessFacts;
  isRunning(pid: number): boolean;
  /** Start time of a running process; "" where the system does not report it. */
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
/** More bytes than any owner writes. */
const LOCK_BYTES_MAX = 64 * 1024;
/** A lock that changes hands this often during one attempt is in use: one of its owners is alive. */
const TRIES = 8;
/** So many deaths in a row between claiming a lock and taking it are no accident: the attempt ends. */
const CLAIMS_MAX = 64;

export function lockPath({ directory }: Place): string {
  return join(directory, LOCK_NAME);
}

/** Takes the lock of a directory. Throws FRONTIER_LOCKED, which names the owner. */
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

/** Removes files that killed openings left beside the lock, which the caller holds. */
function swept({ files, directory }: Place, table: ProcessTable, lock: Lock): Lock {
  for (const name of files.list(directory)) {
    if (!/^lock\..+\.(?:tmp|claim)$/.test(name)) continue;
    const path = join(directory, name);
    try {
      const owner = readOwner(files, path);
      if (typeof owner === "string" || !isAlive(table, owner)) attempt(() => files.remove(path));
    } catch {
      // Unreadable: the process that created it must remove it.
    }
  }
  return lock;
}

/** Releases the lock, if it still is this one. */
export function giveLock({ files }: Place, lock: Lock): void {
  const owner = readOwner(files, lock.path);
  if (typeof owner === "object" && owner.nonce === lock.nonce) files.remove(lock.path);
}

/** The current lock, of any owner; undefined when there is none that can be read. */
export function heldLock({ files, directory }: Place): Lock | undefined {
  const path = join(directory, LOCK_NAME);
  const owner = readOwner(files, path);
  return typeof owner === "object" ? { path, nonce: owner.nonce } : undefined;
}

/** The process that has the directory open; undefined when no live process has. */
export function lockOwner(place: Place, table: ProcessTable): ProcessFacts | undefined {
  const owner = readOwner(place.files, join(place.directory, LOCK_NAME));
  return typeof owner === "object" && isAlive(table, owner) ? owner : undefined;
}

/**
 * Creates the file with all of its bytes at once: written beside, then linked under its name if that is free. Returns false when it is
 * not, or when a new owner removed the file beside it.
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
    attempt(() => files.remove(beside));
  }
}

/** Replaces a dead owner's lock (L1). Returns false when another process was first. */
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
  // The claim has the content of a lock, and becomes one.
  if (isSame) files.rename(claim, path);
  else attempt(() => files.remove(claim));
  return isSame;
}

/** Path of the claim to follow the owner of the lock or claim at `held`. */
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
    // An error of the system is not content.
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
    // An earlier boot of this very machine has ended; any other owner elsewhere cannot be checked (L2).
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
