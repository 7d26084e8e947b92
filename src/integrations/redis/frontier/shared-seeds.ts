/**
 * SharedSeeds: the seeds of rules, once for each rule or every T, whichever process comes first.
 *
 *   once      pushed by every process that finds them not noted, then noted: a second push is a duplicate, and a process that dies loses none
 *   every T   the round is claimed in partition 0 first, so that one process pushes it: what is finished or failed starts anew
 *
 * Times are in the fields `seeded:<rule>` of partition 0. A round whose process dies is completed by the next round.
 */
import type { RuleSpec } from "../../../frontier/rules/rule-specs.ts";
import { expandSeed } from "../../../url/parsing/seed-templates.ts";
import type { ServerLink } from "../server/server-link.ts";
import { isFull, type RequestReader } from "../requests/request-reader.ts";
import type { Pushes } from "./pushes.ts";

/** Seeds of one push. */
const SLICE = 500;

interface SeedParts {
  readonly link: ServerLink;
  readonly reader: RequestReader;
  readonly pushes: Pushes;
  now(): number;
}

export class SharedSeeds {
  readonly #parts: SeedParts;
  /** When each rule was seeded last, as far as this process has seen. */
  readonly #seededAt = new Map<string, number>();
  #turn: Promise<void> | undefined;

  constructor(parts: SeedParts) {
    this.#parts = parts;
  }

  /** Everything is forgotten: seeds come in again. */
  clear(): void {
    this.#seededAt.clear();
  }

  /** Pushes what is due. Costs nothing where nothing is. */
  async run(): Promise<void> {
    if (!this.#parts.reader.set.list.specs.some((spec) => this.#isDue(spec))) return;
    this.#turn ??= this.#seedAll().finally(() => {
      this.#turn = undefined;
    });
    await this.#turn;
  }

  #isDue({ id, seeds, everyMs }: RuleSpec): boolean {
    if (seeds.length === 0) return false;
    const before = this.#seededAt.get(id);
    if (before === undefined) return true;
    return everyMs !== undefined && this.#parts.now() >= before + everyMs;
  }

  async #seedAll(): Promise<void> {
    const { link, reader } = this.#parts;
    for (const spec of reader.set.list.specs) {
      if (!this.#isDue(spec)) continue;
      const field = `seeded:${spec.id}`;
      const noted = await link.ask(0, "HGET", field);
      if (noted !== null) this.#seededAt.set(spec.id, Number(noted));
      if (!this.#isDue(spec)) continue;
      const nowMs = this.#parts.now();
      const claim = ["claim", field, noted === null ? "" : String(noted), String(nowMs)];
      if (noted !== null && Number((await link.run("switch", 0, claim))[1]) === 0) continue;
      if (!(await this.#push(spec, noted !== null))) continue;
      if (noted === null) await link.run("switch", 0, claim);
      this.#seededAt.set(spec.id, nowMs);
    }
  }

  /** False: there was no room for some. */
  async #push({ seeds }: RuleSpec, isAgain: boolean): Promise<boolean> {
    const { pushes } = this.#parts;
    let slice: string[] = [];
    let hasRoom = true;
    const flush = async (): Promise<void> => {
      const origin = { nowMs: this.#parts.now(), depth: undefined, parent: undefined };
      const given = isAgain ? { ...origin, put: "again" as const } : origin;
      const codes = await pushes.push(slice, given);
      hasRoom &&= !codes.some(isFull);
      slice = [];
    };
    for (const seed of seeds) {
      for (const url of expandSeed(seed)) {
        slice.push(url);
        if (slice.length === SLICE) await flush();
      }
    }
    if (slice.length > 0) await flush();
    return hasRoom;
  }
}
