/**
 * DiskTiers: what a frontier with a directory keeps beside its journal: the cold part of its seen-set, and pending records that
 * do not fit in memory.
 *
 *   <directory>/<name>/seen/    runs and manifest of the cold tier (docs/formats/cold-run.md): durable
 *                      spill/   segments of this process alone (docs/formats/spill.md): emptied at every start
 *
 *   T1  The cold tier is never ahead of the journal: `settle` makes durable what entries stand for before they go there, and the entry
 *       that all is forgotten before the tier is emptied. So whatever it holds is there after any replay too.
 *   T2  It is never behind: an identity leaves memory, and with it the snapshots to come, only after the tier has it durably.
 *   T3  A replay writes what it brings about into memory, which wins over the tier: an identity that went there after the
 *       snapshot is replayed to what it became.
 *   T4  The identity of a spilled record may be in the tier too, as its place in this process. A later process takes such a
 *       value for none: the record comes back from snapshot and journal, and its identity with it, into memory (T3).
 */
import { join } from "node:path";
import { FrontierError } from "../../base/errors.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { createColdTier } from "../../persistence/cold/cold-tier.ts";
import {
  HASH_ALGORITHM,
  type Place,
  secretCheck,
} from "../../persistence/directory/frontier-directory.ts";
import { openSpillTier } from "../../persistence/spill/spill-files.ts";
import type { BeforeMove, ColdTier, SpillTier } from "../../structures/storage-tiers.ts";

export interface OpenDiskTiers {
  readonly cold: ColdTier | undefined;
  readonly spill: SpillTier;
  readonly beforeMove: BeforeMove;
}

export class DiskTiers {
  /** Makes durable what was logged before; set once there is a journal: while it is replayed all of it is. */
  settle: BeforeMove = () => true;
  readonly #place: Place;
  readonly #isTiered: boolean;
  #open: OpenDiskTiers | undefined;
  #next: OpenDiskTiers | undefined;

  constructor(place: Place, isTiered: boolean) {
    this.#place = place;
    this.#isTiered = isTiered;
  }

  /** The tiers of a new core, in place of those of the one before; `isCleared`: nothing is known any more. */
  open(kernel: Kernel, secret: Uint32Array, isCleared: boolean): OpenDiskTiers {
    if (isCleared && this.#open !== undefined) {
      const next = this.prepare(kernel, secret);
      this.replace();
      return next;
    }
    this.close(false);
    const { files } = this.#place;
    if (!this.#isTiered && !isCleared) refuseRuns(this.#place, this.#seen);
    const cold = this.#isTiered ? this.#openCold(kernel, secret) : undefined;
    if (isCleared) cold?.clear();
    const spill = openSpillTier({ directory: this.#spill, files });
    this.#open = { cold, spill, beforeMove: (flush, wait) => this.settle(flush, wait) };
    return this.#open;
  }

  /** Empty tiers for a core that is to take the place of this one's. Nothing on disk changes before `replace`. */
  prepare(kernel: Kernel, secret: Uint32Array): OpenDiskTiers {
    const before = this.#open as OpenDiskTiers;
    const after = before.cold?.stats().nextSerial;
    const cold = after === undefined ? undefined : this.#openCold(kernel, secret, after);
    this.#next = { ...before, cold };
    return this.#next;
  }

  /** Switches to the prepared tiers. Their entry is durable, so this succeeds whatever the disk reports. */
  replace(): void {
    const before = this.#open as OpenDiskTiers;
    this.#open = this.#next as OpenDiskTiers;
    before.spill.clear();
    before.cold?.close();
    this.#open.cold?.clear();
  }

  get #seen(): string {
    return join(this.#place.directory, "seen");
  }

  get #spill(): string {
    return join(this.#place.directory, "spill");
  }

  /** `after`: empty, whatever stands there until it is cleared, and its runs are numbered from there on. */
  #openCold(kernel: Kernel, secret: Uint32Array, after?: number): ColdTier {
    const identity = { algorithm: HASH_ALGORITHM, secretCheck: secretCheck(secret) };
    const { files } = this.#place;
    return createColdTier({ kernel, directory: this.#seen, identity, files, after });
  }

  /** Begins with empty spill files: what an earlier process left there has no meaning. */
  begin(): void {
    this.close(true);
  }

  /** Closes the files; with `isDiscard` they are deleted. */
  close(isDiscard: boolean): void {
    const open = this.#open;
    this.#open = undefined;
    open?.spill.close();
    open?.cold?.close();
    if (!isDiscard) return;
    const { files } = this.#place;
    const seen = this.#seen;
    if (!files.exists(seen)) return;
    // Nothing refers to them any more: the journal is deleted, or never existed.
    for (const name of files.list(seen)) files.remove(join(seen, name));
  }

  /** Removes the directories of a frontier that is discarded. */
  removeDirectories(): void {
    for (const path of [this.#seen, this.#spill]) this.#place.files.removeDirectory(path);
  }
}

/** What went to the cold tier is known there alone: another mode would take it for new. */
function refuseRuns({ files }: Place, seen: string): void {
  if (!files.exists(seen)) return;
  if (!files.list(seen).some((name) => name.endsWith(".cold"))) return;
  const expected = "'tiered', as this directory was made with, or another directory";
  const message = `seen.mode: not tiered, at ${seen} (expected: ${expected})`;
  throw new FrontierError("PROFILE_MISMATCH", message, { path: seen });
}
