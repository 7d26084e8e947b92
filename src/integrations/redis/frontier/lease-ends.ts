/**
 * LeaseEnds: what ends leases, gathered for one turn of the event loop and sent together, each end with the links of its page.
 *
 *   done(found) ─▶ rows ─▶ the first of this partition: in the same script ─────────────▶ codes
 *                      └─▶ all others: parcels in the outbox of that script ─▶ forwarded ─▶ codes
 *
 *   I1  A page is finished and its links are admitted, or in the outbox, in one step of the server.
 *   I2  No script admits more rows than one call may, however many links a page has.
 */
import { VERDICT_BUDGET, VERDICT_DUPLICATE } from "../../../frontier/admission/verdicts.ts";
import { listOf, ROWS_MAX, RowList } from "../requests/row-list.ts";
import type { Row } from "../requests/request-reader.ts";
import { copyBytes, type Packable, packed, packedWith, type Piece } from "../server/packing.ts";
import { chance } from "../server/waiting.ts";
import type { Outbox } from "./outbox.ts";
import type { PushParts, Pushes } from "./pushes.ts";

/** Work of one script call, counted in plain ends; a page's links stay with its end. */
const WORK_MAX = 112;
const OTHER_END = 5;
const ACCEPTED = 0x30; // "0"

/** Kinds of ends, as the script has them. */
export const END = {
  done: 1,
  retry: 2,
  fail: 3,
  release: 4,
  extend: 5,
  rematch: 6,
  check: 7,
} as const;

/** What ends a lease, as the script takes it. */
export interface PlainEnd {
  readonly kind: number;
  /** Holds the record's number, 6 bytes from there on. */
  readonly numbers: Buffer;
  readonly at: number;
  readonly token: Buffer;
  /** As it was handed out. */
  readonly host: Piece;
  /** Number of the rule. */
  readonly rule: number;
  readonly rest: readonly Packable[];
}

/** One end of a lease, with the links of its page. */
export interface End extends PlainEnd {
  /** Makes the rows of its links, under the rules of the moment. */
  readonly children: (() => Array<Row | number>) | undefined;
  /** How many links it has. */
  readonly links: number;
}

/** What became of it: its letter, and the codes of its links. */
export interface Ended {
  readonly letter: string;
  readonly codes: Uint8Array;
}

/** An end that waits for its answer; one of the two is called. */
interface Waiting extends End {
  resolve(ended: Ended): void;
  reject(cause: unknown): void;
}

/** The codes of a page without links. */
export const NO_CODES = new Uint8Array(0);

/** A row among the links of an end. */
interface Place {
  readonly end: number;
  readonly index: number;
  readonly row: Row;
}

/** Rows that one script call admits. */
interface Parcel {
  /** Its number in the outbox; undefined: it goes with the ends. */
  id: Buffer | undefined;
  readonly target: number;
  readonly rows: RowList;
  readonly places: Place[];
}

/** What the links of some ends have become so far. */
interface Links {
  readonly codes: readonly Uint8Array[];
  /** Links of each that never reach the server. */
  readonly known: number[];
  readonly parcels: Parcel[];
}

export class LeaseEnds {
  readonly #parts: PushParts;
  readonly #pushes: Pushes;
  readonly #outbox: Outbox;
  readonly #waiting = new Map<number, Waiting[]>();
  #inFlight = 0;
  #idle: Array<() => void> = [];

  constructor(parts: PushParts, pushes: Pushes, outbox: Outbox) {
    this.#parts = parts;
    this.#pushes = pushes;
    this.#outbox = outbox;
  }

  /** Ends a lease of a partition with the others of this turn. */
  end(partition: number, end: End): Promise<Ended> {
    return new Promise((resolve, reject) => this.add(partition, { ...end, resolve, reject }));
  }

  /** The same, answered without a promise. */
  add(partition: number, waiting: Waiting): void {
    const list = this.#waiting.get(partition);
    if (list !== undefined) {
      list.push(waiting);
      return;
    }
    this.#waiting.set(partition, [waiting]);
    setImmediate(() => void this.#sendAll(partition));
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#waiting.size > 0 || this.#inFlight > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  async #sendAll(partition: number): Promise<void> {
    const list = this.#waiting.get(partition) ?? [];
    this.#waiting.delete(partition);
    this.#inFlight++;
    await Promise.all(
      slicesOf(list, this.#parts.link.sized(WORK_MAX)).map((slice) => this.#send(partition, slice)),
    );
    this.#inFlight--;
    if (this.#inFlight === 0 && this.#waiting.size === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  async #send(partition: number, ends: readonly Waiting[]): Promise<void> {
    try {
      for (;;) {
        const answers = await this.#trySend(partition, ends);
        if (answers === undefined) continue;
        ends.forEach((end, at) => void end.resolve(answers[at] as Ended));
        return;
      }
    } catch (cause) {
      for (const end of ends) end.reject(cause);
    }
  }

  /** undefined: the rules have changed. */
  async #trySend(partition: number, ends: readonly Waiting[]): Promise<Ended[] | undefined> {
    const { link, reader, rules, channel } = this.#parts;
    const { codes, known, parcels } = this.#readLinks(ends);
    const here = parcels.find(({ target }) => target === partition);
    const away = parcels.filter((parcel) => parcel !== here);
    for (const parcel of away) parcel.id = this.#outbox.number();
    const answer = await link
      .run("settle", partition, [
        ...[link.batch(), String(reader.set.version), packedEnds(ends)],
        here === undefined ? "" : here.rows.packed(),
        away.length === 0
          ? ""
          : packed(away.map(({ target, id, rows }) => [target, id, rows.packed()])),
        channel,
      ])
      .catch((cause) => {
        if (away.length > 0) this.#outbox.renew();
        throw cause;
      });
    if (String(answer[0]) === "V") {
      for (const { id } of away) this.#outbox.settle(id as Buffer);
      await rules.follow(partition, Number(answer[1]));
      return undefined;
    }
    link.timed(Number(answer[4]));
    const letters = String(answer[1]);
    this.#parts.changed(partition);
    const isDone = (end: number): boolean => letters[end - 1] === "d";
    if (here !== undefined) this.#take(here, String(answer[2]), { codes, isDone });
    const kept = (answer[3] as unknown[]).map(Number);
    const made = away.filter(({ id }, at) => {
      if (kept[at] !== 1) this.#outbox.settle(id as Buffer);
      return kept[at] === 1;
    });
    await this.#forwardAll(partition, made, { codes, isDone });
    this.#count(known, codes, letters);
    return codes.map((own, at) => ({ letter: letters[at] as string, codes: own }));
  }

  async #forwardAll(
    source: number,
    parcels: readonly Parcel[],
    ends: { codes: readonly Uint8Array[]; isDone: (end: number) => boolean },
  ): Promise<void> {
    const targets = new Map<number, Parcel[]>();
    for (const parcel of parcels) listOf(targets, parcel.target).push(parcel);
    await Promise.all(
      [...targets].map(async ([target, list]) => {
        // In this order, so that links are admitted as they were found.
        for (const parcel of list) {
          const rows = parcel.rows.packed(ends.isDone);
          this.#take(parcel, await this.#forward(source, parcel, rows), ends);
        }
        this.#parts.changed(target);
      }),
    );
    if (parcels.length > 0) await this.#outbox.dropped(source);
  }

  async #forward(source: number, { target, id }: Parcel, rows: Buffer): Promise<string> {
    try {
      return await this.#outbox.forward(source, target, id as Buffer, rows);
    } catch (cause) {
      this.#outbox.renew();
      throw cause;
    }
  }

  /** Rows of all links that must be sent, in parcels of one call each, in their order. */
  #readLinks(ends: readonly Waiting[]): Links {
    const codes: Uint8Array[] = [];
    const known = ends.map(() => 0);
    const parcels: Parcel[] = [];
    const open = new Map<number, Parcel>();
    ends.forEach(({ children }, at) => {
      const rows = children?.() ?? [];
      if (rows.length === 0) {
        codes.push(NO_CODES);
        return;
      }
      const own = new Uint8Array(rows.length);
      codes.push(own);
      rows.forEach((row, index) => {
        if (typeof row === "number") own[index] = row;
        else if (this.#pushes.isKnown(row)) {
          own[index] = VERDICT_DUPLICATE;
          (known[at] as number)++;
        } else {
          let parcel = open.get(row.partition);
          if (parcel === undefined || parcel.rows.isFull) {
            const rows = new RowList(this.#parts.link.sized(ROWS_MAX));
            parcel = { id: undefined, target: row.partition, rows, places: [] };
            open.set(row.partition, parcel);
            parcels.push(parcel);
          }
          parcel.rows.add(row, at + 1);
          parcel.places.push({ end: at, index, row });
        }
      });
    });
    return { codes, known, parcels };
  }

  /** Codes of a partition's rows. Without a text another process has forwarded them, and each is taken as accepted. */
  #take(
    { rows, places }: Parcel,
    text: string,
    { codes, isDone }: { codes: readonly Uint8Array[]; isDone: (end: number) => boolean },
  ): void {
    rows.places(isDone).forEach((index, at) => {
      const { end, index: child, row } = places[index] as Place;
      const letter = text === "" ? ACCEPTED : text.charCodeAt(at);
      (codes[end] as Uint8Array)[child] = this.#pushes.codeOf(row, letter);
    });
  }

  /** Links that never reached the server are counted with the next push. */
  #count(known: readonly number[], codes: readonly Uint8Array[], letters: string): void {
    known.forEach((count, at) => {
      if (codes[at] === NO_CODES || letters[at] !== "d") return;
      this.#pushes.countDropped(count);
      for (const code of codes[at] as Uint8Array) {
        if (code > VERDICT_DUPLICATE && code !== VERDICT_BUDGET) this.#pushes.countRefused(code);
      }
    });
  }
}

const [END_BYTES, MEMBER_BYTES] = [12, 6];

/** Ends as columns (lua/settle-16.lua). */
export function packedEnds(ends: readonly PlainEnd[]): Buffer {
  const hosts: Piece[] = [];
  const tokens: Buffer[] = [];
  const columns = Buffer.allocUnsafe(ends.length * END_BYTES);
  let column = 0;
  let areBare = true;
  for (const { kind, numbers, at, token, host, rule, rest } of ends) {
    copyBytes(numbers, at, columns, column, MEMBER_BYTES);
    // Without politeness a host's leases stand together, and leases of one call do.
    if (!isSamePiece(hosts.at(-1), host)) hosts.push(host);
    let place = tokens.lastIndexOf(token) + 1;
    if (place === 0) place = tokens.push(token);
    column = columns.writeUInt16BE(hosts.length, column + MEMBER_BYTES);
    column = columns.writeUInt16BE(place, column);
    column = columns.writeUInt16BE(rule, column);
    areBare &&= isPlain(kind, rest);
  }
  const more =
    !areBare && ends.map(({ kind, rest }) => (isPlain(kind, rest) ? false : [kind, ...rest]));
  return packedWith(hosts, [tokens, columns, more]);
}

function isSamePiece(a: Piece | undefined, b: Piece): boolean {
  if (a === undefined || a.end - a.at !== b.end - b.at) return false;
  for (let at = a.at; at < a.end; at++) if (a.bytes[at] !== b.bytes[at - a.at + b.at]) return false;
  return true;
}

/** A page that is done at its first attempt, without an outcome. */
function isPlain(kind: number, rest: readonly Packable[]): boolean {
  return kind === END.done && (rest[0] ?? null) === null && rest[1] !== true;
}

/** Ends in their order, as many in each slice as one call may take. */
function slicesOf(list: readonly Waiting[], most: number): Waiting[][] {
  const slices: Waiting[][] = [];
  let room = 0;
  for (const end of list) {
    const work = (isPlain(end.kind, end.rest) ? 1 : OTHER_END) + end.links;
    if (slices.length === 0 || work > room) {
      slices.push([]);
      room = most;
    }
    slices.at(-1)?.push(end);
    room -= work;
  }
  return slices;
}

/** A number from −1 to 1, for the spread of a back-off. */
export function spread(): number {
  return chance() * 2 - 1;
}
