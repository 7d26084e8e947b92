/**
 * AsyncFrontier: the surface of a frontier on another thread, or across the network. It is derived from `Frontier`, so that a method is
 * declared once: a value there is a promise here, an iterable an async one, and leases are async as well.
 */
import type { Frontier, FrontierStatus, HostView, Lease } from "./frontier-types.ts";

type Away<T> =
  T extends Lease<infer Data>
    ? AsyncLease<Data>
    : T extends Array<Lease<infer Data>>
      ? AsyncLease<Data>[]
      : T;

type AsyncMember<M> = M extends (...args: infer A) => infer R ? (...args: A) => AsyncAnswer<R> : M;

type AsyncAnswer<R> = [R] extends [string | readonly unknown[]]
  ? Promise<Away<R>>
  : [R] extends [Iterable<infer T>]
    ? AsyncIterable<T>
    : Promise<Away<Awaited<R>>>;

type AsyncMembers<T, But> = { [K in keyof T as K extends But ? never : K]: AsyncMember<T[K]> };

/** Members of `Frontier` whose async form is no promise of the same. */
type Special =
  | "status"
  | "state"
  | "host"
  | "on"
  | "done"
  | typeof Symbol.asyncIterator
  | typeof Symbol.asyncDispose;

/** A `Lease`: its fields as they are, its methods as promises of the same values. */
export interface AsyncLease<Data = unknown>
  extends AsyncMembers<Lease<Data>, typeof Symbol.dispose | "data">,
    AsyncDisposable {
  /** As `Lease.data`. */
  readonly data: Data;
}

/** One host of an `AsyncFrontier`; a host that does not exist yet is created by the first change. */
export interface AsyncHost
  extends AsyncMembers<Pick<HostView, "blockUntil" | "hold" | "unhold">, never> {
  /** Its settings and counts now. */
  view(): Promise<Omit<HostView, "blockUntil" | "hold" | "unhold">>;
  /** Changes settings, all of them or none. Rejects with ARGUMENT_INVALID where one is wrong. */
  set(change: {
    /**
     * Gap between two visits in milliseconds.
     * @defaultValue unchanged
     */
    delayMs?: number | undefined;
    /**
     * Most visits at the same time.
     * @defaultValue unchanged
     */
    limit?: number | undefined;
    /**
     * Address for groups by `"address"`.
     * @defaultValue unchanged
     */
    address?: string | undefined;
  }): Promise<void>;
}

/** A `Frontier` whose owner is elsewhere. Same names and meanings, with promises. */
export interface AsyncFrontier<Data = unknown>
  extends AsyncMembers<Frontier<Data>, Special>,
    AsyncIterable<AsyncLease<Data>>,
    AsyncDisposable {
  /** As `Frontier.status`. */
  status(): Promise<FrontierStatus>;
  /** As `Frontier.done`. */
  done(leases: Iterable<AsyncLease<Data>>): Promise<number>;
  /** A host by its key (`lease.host`), to read or to change. */
  host(key: string): AsyncHost;
  /** Listens to what is called after it: what was under way before is not delivered. */
  on: Frontier<Data>["on"];
  /** A copy of the user's own state, kept in snapshots; `setState` replaces it. */
  state(): Promise<Record<string, unknown>>;
  /** Replaces the user's own state. */
  setState(state: Record<string, unknown>): Promise<void>;
}
