/** Laws of leases: when one ends, what each end does to its record, and when a record becomes due. */
import type { SyncPolicy } from "../frontier-surface.ts";
import {
  dueAtOf,
  type Model,
  type ModelHost,
  type ModelLease,
  type ModelRecord,
  takePlace,
} from "../model-state.ts";

export const LEASE_LAWS = {
  /** A lease is over at its deadline, not after it. */
  isLeaseOver: (deadlineMs: number, now: number): boolean => deadlineMs <= now,

  /** Only the lease that the record has now may be ended. */
  isPresentLease: ({ lease }: ModelRecord, serial: number): boolean => lease?.serial === serial,

  /** A lease that expires counts as an attempt. */
  attemptsAfterExpiry: (attempts: number): number => attempts + 1,

  /** A record that is requeued by hand has all its attempts again. */
  attemptsAfterRequeue: (_attempts: number): number => 0,

  /** A record may be attempted so many times. */
  hasNoAttemptLeft: (attempts: number, max: number): boolean => attempts >= max,

  /** A record may be handed out so many times. */
  hasNoDeliveryLeft: (deliveries: number, max: number): boolean => deliveries >= max,

  /** A released record goes back to its old place. */
  placeAfterRelease: (_model: Model, { sequence }: ModelRecord): number => sequence,

  /** A record keeps its place when its priority or its time is changed. */
  placeAfterUpdate: (_model: Model, { sequence }: ModelRecord): number => sequence,

  /** A record that becomes due takes a new place. */
  placeWhenDue: (model: Model, _record: ModelRecord): number => takePlace(model),

  /** Records become due in the order of their times. At the same time: in the order of admission. */
  compareDue: (a: ModelRecord, b: ModelRecord): number =>
    dueAtOf(a) - dueAtOf(b) || a.sequence - b.sequence,

  /** A release sets the host's clock back if nothing has set it since the hand-out. */
  releaseRestoresReadyAt: (host: ModelHost, lease: ModelLease): boolean =>
    host.readyAt === lease.readyAtSet,

  /** A release gives the host its old turn back if the host had no later lease. */
  releaseRestoresTurn: (host: ModelHost, lease: ModelLease): boolean => host.turn === lease.serial,

  /** A retry costs one step of priority, unless the rule says otherwise. */
  retryPriority: ({ retryPriority = -1 }: SyncPolicy): number | { set: number } => retryPriority,

  /** The first retry waits for the base delay: back-off grows from the second one on. */
  backoffSteps: (attempts: number): number => attempts - 1,
};
