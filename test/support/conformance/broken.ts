/** Broken copies of an implementation: one fault each, put in front of the real one. The random programs must find every one of them. */
import type { AsyncFrontier, AsyncLease } from "../../../src/engine/types/async-frontier.ts";
import type { Implementation, Rig } from "./implementations.ts";

type Change = (target: AsyncFrontier) => Partial<AsyncFrontier>;

/** The faults by what goes wrong. */
export const FAULTS: Readonly<Record<string, Change>> = {
  "the last link of a page is lost": (target) => ({
    pollMany: async (max) =>
      (await target.pollMany(max)).map((lease) =>
        withMembers(lease, {
          done: ({ found = [], ...result } = {}) =>
            lease.done({ ...result, found: [...found].slice(0, -1) }),
        }),
      ),
  }),
  "a late result is answered as taken": (target) => ({
    pollMany: async (max) =>
      (await target.pollMany(max)).map((lease) =>
        withMembers(lease, { extend: async (ms) => (await lease.extend(ms)) || true }),
      ),
  }),
  "leases come in another order": (target) => ({
    pollMany: async (max) => (await target.pollMany(max)).reverse(),
  }),
  "the defaults of a batch are ignored": (target) => ({
    pushMany: (requests) => target.pushMany(requests),
  }),
  "a host's limit is not kept": (target) => ({
    host: (key) => ({ ...target.host(key), set: async () => undefined }),
  }),
  "forget leaves URLs seen": () => ({ forget: async () => 0 }),
};

/** The implementation with one fault. */
export function broken(implementation: Implementation, change: Change): Implementation {
  const open: Implementation["open"] = async (context, options) => {
    const rig: Rig = await implementation.open(context, options);
    return { ...rig, frontier: withMembers(rig.frontier, change(rig.frontier)) };
  };
  return { ...implementation, name: `${implementation.name}, broken`, open };
}

function withMembers<T extends AsyncFrontier | AsyncLease>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      if (name in members) return members[name as keyof T];
      const member = target[name as keyof T];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
