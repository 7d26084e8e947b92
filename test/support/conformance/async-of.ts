/**
 * A frontier of this thread, or the naive model, behind the surface of `AsyncFrontier`: every method answers with a promise of what it
 * returned. It decides nothing, so that one suite can judge all implementations through one surface.
 */
import type { AsyncFrontier, AsyncLease } from "../../../src/engine/types/async-frontier.ts";
import type { Frontier, Lease } from "../../../src/engine/types/frontier-types.ts";
import type { SyncFrontier } from "../frontier-surface.ts";

type Method = (...args: unknown[]) => unknown;
type Loose = Record<PropertyKey, unknown>;

/** The leases behind the asynchronous ones, for calls that take leases. */
const behind = new WeakMap<object, object>();

/** The frontier with promises. */
export function asyncOf(frontier: Frontier | SyncFrontier): AsyncFrontier {
  const target = frontier as unknown as Loose;
  const special: Record<PropertyKey, unknown> = {
    status: async () => target.status,
    state: async () => target.state,
    setState: async (state: unknown) => {
      target.state = state;
    },
    host: (key: string) => asyncHost(() => (target.host as Method)(key) as Loose),
    on: (...args: unknown[]) => (target.on as Method)(...args),
    done: async (leases: Iterable<object>) =>
      (target.done as Method)(Array.from(leases, (each) => behind.get(each) ?? each)),
    records: (...args: unknown[]) => asyncItems(() => (target.records as Method)(...args)),
    epochs: () => asyncItems(() => (target.epochs as Method)()),
    [Symbol.asyncIterator]: () => asyncLeases(frontier as Frontier),
    [Symbol.asyncDispose]: async () => (target.close as Method)(),
  };
  return proxyOf(target, special) as unknown as AsyncFrontier;
}

/** Members of `special` as they are, methods of the target with promises, its fields as they are. */
function proxyOf(target: Loose, special: Loose): Loose {
  return new Proxy(target, {
    get(_, name) {
      if (name in special) return special[name];
      const member = target[name];
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => wrapped(await (member as Method).apply(target, args));
    },
  });
}

function wrapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wrapped);
  const isLease = typeof value === "object" && value !== null && "redirect" in value;
  return isLease ? asyncLease(value as Lease) : value;
}

function asyncLease(lease: Lease): AsyncLease {
  const release = async (): Promise<void> => lease[Symbol.dispose]();
  const special = { [Symbol.asyncDispose]: release };
  const made = proxyOf(lease as unknown as Loose, special);
  behind.set(made, lease);
  return made as unknown as AsyncLease;
}

function asyncHost(find: () => Loose): Loose {
  const call = (name: string) => async (at?: unknown) => (find()[name] as Method)(at);
  return {
    blockUntil: call("blockUntil"),
    hold: call("hold"),
    unhold: call("unhold"),
    view: async () => {
      const { blockUntil, hold, unhold, ...facts } = find();
      return facts;
    },
    set: async (change: object) => void Object.assign(find(), change),
  };
}

async function* asyncItems(list: () => unknown): AsyncGenerator<unknown> {
  yield* list() as Iterable<unknown>;
}

async function* asyncLeases(frontier: Frontier): AsyncGenerator<AsyncLease> {
  for await (const lease of frontier) yield asyncLease(lease);
}
