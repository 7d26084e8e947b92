/** Random programs over a frontier with a directory: every public call that changes something, and turns of the event loop. */
import type { Random } from "../../src/base/random.ts";
import type {
  FrontierOptions,
  Lease,
  RedirectChange,
  RequestInput,
} from "../../src/engine/types/frontier-types.ts";
import type { DurableRig } from "./durable-rig.ts";

/** Few paths and hosts: identities repeat, lanes run empty, hosts wait; now and then a new one. */
function urlOf(random: Random, hosts: number): string {
  if (random.below(16) === 0) return `https://new${random.below(400)}.example/`;
  return `https://h${random.below(hosts)}.example/${random.below(40)}`;
}

export function optionsOf(random: Random): FrontierOptions {
  const pick = <T>(...of: T[]): T => of[random.below(of.length)] as T;
  const isPolite = random.below(2) === 0;
  const epoch = pick<object>(
    {},
    {},
    { epoch: { every: 400 } },
    { epoch: { adaptive: { min: 100, max: 2_000 } } },
    { epoch: { calendar: "hour", undated: "forever" } },
  );
  // Small layers, so that the filter grows; a false positive of one in a million would show as a difference.
  const bloom = { mode: "bloom" as const, capacity: 16, falsePositiveRate: 1e-9 };
  const mayBloom = !/every|adaptive/.test(JSON.stringify(epoch));
  return {
    ...(mayBloom && random.below(3) === 0 ? { seen: bloom } : {}),
    leaseMs: 5_000,
    maxDeliveries: pick(3, 10),
    capacity: pick(30, 400),
    defaults: {
      order: pick("fifo", "lifo"),
      startLast: pick(true, false),
      depthPriority: pick(0, 0, 1),
      maxAttempts: pick(2, 3),
      ...epoch,
      backoff: { baseMs: pick(0, 100), jitter: 0.5 },
      ...(isPolite
        ? {
            politeness: {
              delayMs: pick(0, 50),
              perHost: pick(1, 2),
              ...pick({}, { adaptive: { factor: 2, minMs: 5, maxMs: 100 } }),
              ...pick({}, { hostBackoff: { after: 2, baseMs: 50, maxMs: 400, giveUpAfter: 6 } }),
              ...pick({}, { budget: { urls: 60 } }),
              ...pick({}, { groups: [{ by: "domain" as const, delayMs: pick(0, 80), limit: 3 }] }),
              ...pick(
                {},
                {
                  groups: [
                    { by: "address" as const, delayMs: 150 },
                    { by: unitOf, delayMs: 40 },
                  ],
                },
              ),
            },
          }
        : {}),
    },
  };
}

/** Two servers; '' means unknown. */
function addressOf(random: Random): string {
  return ["192.0.2.1", "2001:db8::2", ""][random.below(3)] as string;
}

/** Two groups of hosts. */
function unitOf(host: string): string {
  return `half-${host.charCodeAt(1) % 2}`;
}

/** Options under which whole hosts go to disk: polite, without groups. */
export function broadOptionsOf(random: Random): FrontierOptions {
  const options = optionsOf(random);
  return {
    ...options,
    seen: undefined as never,
    capacity: 400,
    defaults: {
      ...options.defaults,
      politeness: {
        delayMs: [0, 50, 400][random.below(3)] as number,
        perHost: 1 + random.below(2),
        ...(random.below(3) === 0 ? { adaptive: { factor: 2, minMs: 5, maxMs: 100 } } : {}),
        ...(random.below(3) === 0 ? { budget: { urls: 60 } } : {}),
      },
    },
  };
}

/** One call; the leases it holds are kept in `held`. */
export function act(rig: DurableRig, random: Random, held: Lease[], hosts = 5): void {
  const { frontier } = rig;
  const lease = held.length > 0 ? held[random.below(held.length)] : undefined;
  const found = (): string[] => Array.from({ length: random.below(6) }, () => urlOf(random, hosts));
  switch (random.below(26)) {
    case 0:
    case 1:
    case 2:
      frontier.pushMany(Array.from({ length: random.below(20) }, () => urlOf(random, hosts)));
      break;
    case 3:
    case 4:
      frontier.push(requestOf(rig, random, hosts));
      break;
    case 5:
    case 6:
    case 7:
    case 8:
      held.push(...frontier.pollMany(1 + random.below(6)));
      break;
    case 9:
    case 10:
    case 11:
    case 12:
      lease?.done({
        found: found(),
        outcome: {
          ...{ latencyMs: random.below(50), bytes: 100, changed: random.below(2) === 0 },
          ...(random.below(3) === 0 ? { address: addressOf(random) } : {}),
        },
      });
      break;
    case 13:
    case 14:
      lease?.retry(random.below(2) === 0 ? {} : { delayMs: random.below(300), priority: 3 });
      break;
    case 15:
      lease?.fail("no");
      break;
    case 16:
      if (lease !== undefined) putBack(lease, random, hosts);
      break;
    case 17:
      rig.clock.advance(random.below(8) === 0 ? 6_000 : random.below(120));
      break;
    case 18:
      frontier.update(urlOf(random, hosts), { priority: random.below(5) - 2 });
      frontier.update(urlOf(random, hosts), { notBefore: rig.clock.now() + random.below(200) });
      break;
    case 19:
      frontier.done(held.splice(0, random.below(4)));
      break;
    case 20:
      if (random.below(3) === 0) frontier.requeue({ state: "failed" });
      break;
    case 21:
      steerHost(rig, random, hosts);
      break;
    case 22:
      frontier.state.step = random.word();
      break;
    case 23:
      rare(rig, random, hosts);
      break;
    default:
      frontier.push(urlOf(random, hosts));
  }
  if (held.length > 30) held.splice(0, 10);
}

function requestOf(rig: DurableRig, random: Random, hosts: number): RequestInput {
  const input: RequestInput = { url: urlOf(random, hosts) };
  if (random.below(3) === 0) input.priority = random.below(7) - 3;
  if (random.below(4) === 0) input.notBefore = rig.clock.now() + random.below(500);
  if (random.below(3) === 0)
    input.data = { at: random.below(100), text: "ä".repeat(random.below(9)) };
  if (random.below(4) === 0) input.dedup = random.below(2) === 0 ? "record" : "skip";
  if (random.below(5) === 0) input.start = true;
  if (random.below(5) === 0) input.maxAttempts = 1 + random.below(3);
  if (random.below(6) === 0) input.depth = random.below(3);
  if (random.below(6) === 0) input.method = "POST";
  if (random.below(6) === 0) input.epoch = `round-${random.below(3)}`;
  return input;
}

/** Returns a lease to its place, or redirects it to another URL. */
function putBack(lease: Lease, random: Random, hosts: number): void {
  if (random.below(2) === 0) lease.redirect(urlOf(random, hosts), changeOf(random));
  else lease.release();
}

/** The status of a redirect, usually none. */
function changeOf(random: Random): RedirectChange {
  const change: RedirectChange = {};
  if (random.below(4) === 0) change.status = 301 + random.below(3);
  if (random.below(6) === 0) change.priority = random.below(7) - 3;
  if (random.below(6) === 0) change.dedup = random.below(2) === 0 ? "record" : "skip";
  if (random.below(6) === 0) change.epoch = `round-${random.below(3)}`;
  if (random.below(6) === 0) change.data = { moved: random.below(9) };
  return change;
}

function steerHost({ frontier, clock }: DurableRig, random: Random, hosts: number): void {
  const host = frontier.host(`h${random.below(hosts)}.example`);
  switch (random.below(6)) {
    case 5:
      host.address = addressOf(random);
      break;
    case 0:
      host.delayMs = random.below(100);
      break;
    case 1:
      host.limit = 1 + random.below(3);
      break;
    case 2:
      host.blockUntil(clock.now() + random.below(300));
      break;
    case 3:
      host.hold();
      break;
    default:
      host.unhold();
  }
}

/** Calls that change what names mean, or that affect many records. */
function rare({ frontier }: DurableRig, random: Random, hosts: number): void {
  switch (random.below(6)) {
    case 0:
      if (random.below(2) === 0) frontier.forget();
      else if (frontier.report().seenSet.mode === "bloom")
        break; // only all of it can be forgotten
      else frontier.forget({ epoch: `round-${random.below(3)}` });
      break;
    case 1:
      if (random.below(3) === 0) frontier.clear();
      break;
    case 2:
      frontier.remove({ host: `h${random.below(hosts)}.example`, pattern: "/1" });
      break;
    default:
      frontier.peek(5);
  }
}
