/**
 * Values of operations as plain data that prints as JSON, and what they stand for.
 *
 *   { $: "unitOfHost" }     a function, or another value that JSON cannot hold; made anew for each side
 *   { $in: 20 }             the clock's time and so many milliseconds
 */
const MAKERS = {
  // Of rules and options.
  slotOf: () => (timeMs) => {
    const slot = Math.floor(timeMs / 20) % 7;
    return slot === 6 ? "" : `slot-${slot % 3}`;
  },
  unitOfHost: () => (host) => `half-${host.length % 2}`,
  keyOfUrl: () => (url) => `unit-${new URL(url).host.charCodeAt(0) % 2}`,
  throws: () => () => {
    throw new Error("hook");
  },
  pathOnly: () => (request) => (request.url.endsWith("/9") ? 9 : new URL(request.url).pathname),
  accept: () => (request) => {
    if (request.url.endsWith("/5")) return false;
    if (request.url.endsWith("/6")) throw new Error("accept");
    return request.url.endsWith("/4") ? { priority: request.priority + 2, data: "hooked" } : true;
  },
  idleTwice: () => {
    let asked = 0;
    return () => asked++ < 2;
  },
  // Of requests.
  function: () => () => 1,
  symbol: () => Symbol("one"),
  cycle: () => {
    const ring = {};
    ring.ring = ring;
    return ring;
  },
  map: () => new Map([["a", 1]]),
  rich: () => ({
    ...{ list: [1, "two", null, undefined, -0, Number.NaN, 2n ** 40n], when: new Date(86_400_000) },
    ...{ bytes: new Uint8Array([1, 2, 3]), set: new Set(["ä"]), words: new Uint16Array([5, 6]) },
  }),
  bytes: () => new Uint8Array([98, 121, 116, 101, 115]),
  date: () => new Date(1_700_000_000_000),
  nan: () => Number.NaN,
  infinity: () => Number.POSITIVE_INFINITY,
  undefined: () => undefined,
  unreadable: () => ({
    get url() {
      throw new Error("unreadable");
    },
  }),
};

/** What a value of an operation stands for; `nowMs` is the side's time. */
export function restore(value, nowMs = 0) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => restore(one, nowMs));
  if (value.$in !== undefined) return nowMs + value.$in;
  if (value.$ !== undefined) return MAKERS[value.$]();
  const made = {};
  for (const field of Object.keys(value)) made[field] = restore(value[field], nowMs);
  return made;
}
