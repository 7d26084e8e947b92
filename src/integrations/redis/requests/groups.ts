/** Groups: rows as a script takes them (lua/lib-admit.lua), those that differ in nothing but their URL in one group. */
import { type Packable, packed } from "../server/packing.ts";
import type { Row } from "./request-reader.ts";

interface Group {
  readonly row: Row;
  readonly prints: Buffer[];
  readonly bodies: Buffer[];
  /** Which rows they are, in the order of their codes. */
  readonly places: number[];
  /** The end of a lease that they depend on. */
  readonly end: number | undefined;
}

/** Rows that go to one partition in one script call. */
export class GroupList {
  readonly #groups = new Map<string, Group>();
  readonly #isOrdered: boolean;
  #last = "";
  #runs = 0;
  count = 0;

  /** `isOrdered`: rows stay in their order, as a limit that ends in the middle of them needs it; groups are then smaller. */
  constructor(isOrdered = false) {
    this.#isOrdered = isOrdered;
  }

  /** `place`: where the code of the row goes; `end`: the place of the lease's end that it depends on. */
  add(row: Row, place: number, end?: number): void {
    const unit = typeof row.unit === "string" ? row.unit : row.unit.toString("latin1");
    const isPlain = optionsOf(row) === undefined;
    const more = isPlain
      ? ""
      : `${row.dueMs ?? ""} ${row.dedup} ${row.epoch} ${row.budgetHost ?? ""}`;
    const order = `${row.rule} ${row.priority} ${row.depth} ${row.isStart ? 1 : 0}`;
    let name = `${unit}\n${order} ${end ?? ""}\n${more}`;
    if (this.#isOrdered) {
      if (name !== this.#last) this.#runs++;
      this.#last = name;
      name = `${this.#runs}`;
    }
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { row, prints: [], bodies: [], places: [], end };
      this.#groups.set(name, group);
    }
    group.prints.push(row.fingerprint);
    group.bodies.push(row.body);
    group.places.push(place);
    this.count++;
  }

  /** The places of the rows, in the order of the answer's codes. */
  places(keeps: (end: number) => boolean = () => true): number[] {
    const kept = [...this.#groups.values()].filter(({ end }) => end === undefined || keeps(end));
    return kept.flatMap(({ places }) => places);
  }

  list(): Packable[] {
    return [...this.#groups.values()].map(({ row, prints, bodies, end }) => {
      const options = optionsOf(row);
      return [
        ...[row.unit, row.rule, row.priority, row.isStart ? 1 : 0, row.depth],
        ...[Buffer.concat(prints), bodies, options ?? false],
        ...(end === undefined ? [] : [end]),
      ];
    });
  }

  packed(): Buffer {
    return packed(this.list());
  }
}

function optionsOf({ dueMs, dedup, epoch, budgetHost }: Row): Packable {
  const isPlain = dueMs === undefined && dedup === "check" && epoch === "";
  if (isPlain && budgetHost === undefined) return undefined;
  return {
    h: budgetHost,
    d: dueMs,
    k: dedup === "check" ? undefined : dedup.charAt(0),
    e: epoch === "" ? undefined : epoch,
  };
}
