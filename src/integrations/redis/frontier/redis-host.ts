/** One host of a frontier on Redis: its view, and what may be set. */
import type { AsyncHost } from "../../../engine/types/async-frontier.ts";
import { checkHostKey, readHostChange } from "../../../engine/queries/host-view.ts";
import { TIME } from "../../../engine/intake/request-fields.ts";
import type { FrontierPolicy } from "../../../frontier/rules/rule-policy.ts";
import { type Packable, packed, unpacked } from "../server/packing.ts";
import type { RequestReader } from "../requests/request-reader.ts";
import type { PushParts } from "./pushes.ts";

interface HostFacts {
  readonly leased: number;
  readonly readyAt: number;
  readonly blockedUntil: number;
  readonly held: boolean;
  readonly bytes: number;
  readonly settings: ReadonlyMap<string, number | Buffer>;
}

const NOTHING: HostFacts = {
  ...{ leased: 0, readyAt: 0, blockedUntil: 0, held: false, bytes: 0 },
  settings: new Map(),
};

/** Where a host may be. */
export interface HostPlace {
  readonly name: string;
  readonly partition: number;
}

/** A key may be the name of a host, or one that requests have named, which has a partition of its own. */
function placesOf(
  key: string,
  reader: Pick<RequestReader, "partitionOf">,
): readonly [HostPlace, HostPlace] {
  const name = key.toLowerCase();
  return [
    { name, partition: reader.partitionOf(undefined, name) },
    { name: key, partition: reader.partitionOf(key, key) },
  ];
}

/** Where leases of a host may be. A named key differs from the host in lower case, which may be there as well. */
export async function placesToPoll(
  { link, reader }: Pick<PushParts, "link" | "reader">,
  key: string,
): Promise<readonly HostPlace[]> {
  const places = placesOf(key, reader);
  const [host, named] = places;
  if (host.name === key) return places;
  return [(await look(link, named)) === undefined ? host : named];
}

async function look(
  link: PushParts["link"],
  { name, partition }: HostPlace,
): Promise<HostFacts | undefined> {
  const answer = await link.run("host", partition, [name, "view"]);
  return answer.length < 3 ? undefined : readFacts(answer);
}

export function hostOf(parts: PushParts, key: string): AsyncHost {
  checkHostKey(key);
  const { link, reader, channel } = parts;
  const [host, named] = placesOf(key, reader);
  const find = async (): Promise<{ place: HostPlace; facts: HostFacts }> => {
    for (const place of host.name === key ? [host, named] : [named, host]) {
      const facts = await look(link, place);
      if (facts !== undefined) return { place, facts };
    }
    return { place: host, facts: NOTHING };
  };
  const change = async (fields: Record<string, Packable>): Promise<void> => {
    const { place } = await find();
    await link.run("host", place.partition, [place.name, "set", packed(fields), channel]);
    parts.changed(place.partition);
  };
  return {
    async view() {
      const { facts } = await find();
      const { settings, ...rest } = facts;
      const number = (name: string, none: number): number => Number(settings.get(name) ?? none);
      const policies = reader.set.list.specs.map(({ policy }) => policy);
      const address = settings.get("address");
      return {
        key,
        delayMs: settingOf(number("delay", -1), -1, () =>
          delayOf(policies, number("adaptive", -1)),
        ),
        limit: settingOf(number("limit", 0), 0, () => limitOf(policies)),
        ...(address === undefined ? {} : { address: String(address) }),
        ...rest,
        failures: number("failures", 0),
        admitted: number("admitted", 0),
      };
    },
    async set(given) {
      const { delayMs, limit, address } = readHostChange(given as never);
      await change({ delay: delayMs, limit, address });
    },
    async blockUntil(at) {
      await change({ block: TIME(at, "at", "ARGUMENT_INVALID") });
    },
    hold: () => change({ held: true }),
    unhold: () => change({ held: false }),
  };
}

function settingOf(value: number, unset: number, otherwise: () => number): number {
  return value === unset ? otherwise() : value;
}

/** The longest gap that any rule keeps. */
function delayOf(policies: readonly FrontierPolicy[], adaptive: number): number {
  return policies.reduce((most, policy) => {
    const first =
      policy.adaptive === undefined
        ? policy.delayMs
        : Math.max(policy.delayMs, policy.adaptive.minMs);
    return Math.max(most, policy.adaptive !== undefined && adaptive >= 0 ? adaptive : first);
  }, 0);
}

function limitOf(policies: readonly FrontierPolicy[]): number {
  return policies.reduce(
    (least, policy) => Math.min(least, policy.isPolite ? policy.perHost : Number.POSITIVE_INFINITY),
    Number.POSITIVE_INFINITY,
  );
}

function readFacts(answer: readonly unknown[]): HostFacts {
  const settings = unpacked(answer[7] as Buffer);
  return {
    leased: Number(answer[3]),
    readyAt: Number(answer[4]),
    blockedUntil: Number(answer[5]),
    held: Number(answer[6]) === 1,
    bytes: Number(answer[8]),
    settings: settings instanceof Map ? (settings as Map<string, number | Buffer>) : new Map(),
  };
}
