/**
 * Outbox: links that a page of one partition led to in another, kept by its script until the other partition has taken them in.
 *
 *   settle ─▶ outbox ── deliver ──▶ the other partition, which keeps the parcel's number
 *                 └── drop, once it is taken in
 *
 *   I1  Any process may forward any parcel, several at once: its stream and number make a second delivery change nothing.
 *   I2  Numbers are assigned here and never reused. A stream ends where it is unknown what became of one of its parcels: nothing below the
 *       least number that is under way may be in an outbox untaken.
 */
import type { ServerLink } from "../server/server-link.ts";
import { listOf } from "../requests/row-list.ts";
import { randomBytes } from "../server/waiting.ts";
import type { SharedRules } from "./shared-rules.ts";

/** Parcels that one call reads. */
const PAGE = 16;
/** Bytes of parcels that one call delivers: about as many rows as a push has. */
const BYTES_MAX = 16_384;
const STREAM_BYTES = 8;

/** Parcels of one call. */
interface Delivery {
  readonly target: number;
  bytes: number;
  readonly parcels: Buffer[];
}

export class Outbox {
  readonly #link: ServerLink;
  readonly #channel: string;
  readonly #rules: SharedRules;
  /** Fields that were delivered, by partition, not dropped yet. */
  #stream = randomBytes(2);
  #numbers = 0;
  /** Numbers of this stream that are under way, in their order. */
  #underWay = new Set<number>();
  readonly #delivered = new Map<number, Buffer[]>();
  readonly #dropping = new Map<number, Promise<void>>();

  constructor(link: ServerLink, channel: string, rules: SharedRules) {
    this.#link = link;
    this.#channel = channel;
    this.#rules = rules;
  }

  /** The id of a parcel that is about to be made: stream and number. */
  number(): Buffer {
    const id = Buffer.alloc(STREAM_BYTES + 6);
    this.#stream.copy(id);
    id.writeUIntBE(++this.#numbers, STREAM_BYTES, 6);
    this.#underWay.add(this.#numbers);
    return id;
  }

  /** A parcel has arrived, or was never made. */
  settle(id: Buffer): void {
    if (this.#isOwn(id)) this.#underWay.delete(id.readUIntBE(STREAM_BYTES, 6));
  }

  /** It is unknown what became of parcels. */
  renew(): void {
    this.#stream = randomBytes(2);
    this.#underWay = new Set();
  }

  #isOwn(id: Buffer): boolean {
    return this.#stream.equals(id.subarray(0, STREAM_BYTES));
  }

  /** Forwards a parcel that this process has just made; the codes of its rows, "" where another process was quicker. */
  async forward(source: number, target: number, id: Buffer, rows: Buffer): Promise<string> {
    const [least] = this.#underWay;
    const floor = this.#isOwn(id) && least !== undefined ? String(least) : "";
    const answer = await this.#deliver(target, floor, [id, rows]);
    this.settle(id);
    this.#drop(source, fieldOf(target, id));
    return String(answer[1] ?? "");
  }

  /** Resolves when the parcels of a partition that were forwarded have left its outbox. */
  async dropped(source: number): Promise<void> {
    await this.#dropping.get(source);
  }

  /** Forwards what dead processes have left. Where that fails, `failed` gets the partition that did. */
  async sweep(source: number, failed: (partition: number, cause: unknown) => void): Promise<void> {
    let asked = source;
    const argsAt = (cursor: string) => [cursor, String(PAGE)];
    try {
      for await (const answer of this.#link.slices("outbox", source, argsAt)) {
        await this.#forwardAll(source, answer, (target) => {
          asked = target;
        });
      }
    } catch (cause) {
      failed(asked, cause);
      throw cause;
    }
  }

  async #forwardAll(
    source: number,
    answer: readonly unknown[],
    failed: (target: number) => void,
  ): Promise<void> {
    const calls: Delivery[] = [];
    const fields: Buffer[] = [];
    for (let at = 2; at + 1 < answer.length; at += 2) {
      const field = answer[at] as Buffer;
      const rows = answer[at + 1] as Buffer;
      fields.push(field);
      const target = field.readUInt16BE(0);
      let call = calls.findLast((each) => each.target === target);
      if (call === undefined || call.bytes + rows.length > BYTES_MAX) {
        call = { target, bytes: 0, parcels: [] };
        calls.push(call);
      }
      call.bytes += rows.length;
      call.parcels.push(field.subarray(2), rows);
    }
    await Promise.all(
      calls.map(async ({ target, parcels }) => {
        await this.#deliver(target, "", parcels).catch((cause) => {
          failed(target);
          throw cause;
        });
      }),
    );
    if (fields.length > 0) await this.#link.run("outbox", source, ["", "", ...fields]);
  }

  /** A partition that does not have the rules of the rows yet gets them first. */
  async #deliver(
    target: number,
    floor: string,
    parcels: readonly Buffer[],
  ): Promise<readonly unknown[]> {
    for (;;) {
      const fixed = [this.#channel, floor, String(this.#rules.current.version)];
      const answer = await this.#link.run("deliver", target, [...fixed, ...parcels]);
      if (String(answer[0]) !== "V") return answer;
      await this.#rules.refresh(0);
      await this.#rules.follow(target, Number(answer[1]));
    }
  }

  /** Drops of one turn go together; one that fails is made with the next: a parcel that stays is delivered again, which changes nothing. */
  #drop(source: number, field: Buffer): void {
    listOf(this.#delivered, source).push(field);
    this.#dropping.set(source, this.#dropping.get(source) ?? this.#dropAll(source));
  }

  async #dropAll(source: number): Promise<void> {
    await new Promise(setImmediate);
    this.#dropping.delete(source);
    const fields = this.#delivered.get(source) ?? [];
    this.#delivered.delete(source);
    try {
      await this.#link.run("outbox", source, ["", "", ...fields]);
    } catch {
      this.#delivered.set(source, [...fields, ...(this.#delivered.get(source) ?? [])]);
    }
  }
}

function fieldOf(target: number, id: Buffer): Buffer {
  const field = Buffer.alloc(2);
  field.writeUInt16BE(target, 0);
  return Buffer.concat([field, id]);
}
