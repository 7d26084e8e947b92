/** Laws of epochs: the epoch of a request, when a page is visited again, and what is forgotten. */
import type { SyncRequest } from "../frontier-surface.ts";
import type { ModelRecord } from "../model-state.ts";

export const EPOCH_LAWS = {
  /** The epoch that a request names comes before that of its rule. */
  ownEpoch: ({ epoch }: SyncRequest): string | undefined => epoch,

  /** A request for later belongs to the period of its time. */
  timeOfEpoch: ({ notBefore }: SyncRequest, now: number): number => notBefore ?? now,

  /** A request without a time belongs to no period where the rule keeps those for good. */
  isTimeless: (undated: string | undefined, { notBefore }: SyncRequest): boolean =>
    undated === "forever" && notBefore === undefined,

  /** An hour is named by its date and its two digits: 2026-01-31T23. */
  nameOfHour: (isoTime: string): string => isoTime.slice(0, 13),

  /** A page comes again one period after its visit. */
  comesAgainAt: (now: number, everyMs: number): number => now + everyMs,

  /** A record whose request named its epoch never comes again by itself. */
  comesAgain: ({ isOnce }: ModelRecord): boolean => !isOnce,

  /** The period's next step: shorter after a change, longer after a visit without one. */
  periodStep(changed: boolean | undefined): number {
    if (changed === undefined) return 0;
    return changed ? -0.5 / Math.E : 0.5 * (1 - 1 / Math.E);
  },

  /** A period stays between the bounds of its rule. */
  boundedPeriod: (periodMs: number, { min, max }: { min: number; max: number }): number =>
    Math.min(Math.max(periodMs, min), max),

  /** A record that comes again counts its deliveries from zero. */
  deliveriesOfRevisit: (_deliveries: number): number => 0,

  /** A push takes the place of a finished record, but not of one that rests until its time. */
  doesPushReplaceDone: (isResting: boolean): boolean => !isResting,

  /** A push takes the place of a record that failed, and of one that came again by itself. */
  doesPushReplace: ({ state, isAgain }: ModelRecord): boolean =>
    state === "failed" || (state === "pending" && isAgain),

  /** Forgetting takes the identity of every record, unfinished ones too. */
  losesIdentity: (_record: ModelRecord): boolean => true,

  /** Forgetting an epoch forgets the records that own an identity in it. */
  isOfEpoch: (record: ModelRecord, name: string, isOwner: boolean): boolean =>
    record.epoch === name && isOwner,

  /** Forgetting `forever` forgets every record that no other epoch holds. */
  isOfForever: (record: ModelRecord, isOwner: boolean): boolean =>
    record.epoch === "forever" || !isOwner,
};
