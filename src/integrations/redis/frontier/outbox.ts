/**
 * Outbox: links that a page of one partition led to in another, kept by its script until the other partition has taken them in.
 *
 *   settle ─▶ outbox ── deliver ──▶ the other partition, which keeps the parcel's number
 *                 └── drop, once it is taken in
 *
 *   I1  Any process may forward any parcel, several at once: the number makes the second one nothing.
 */
import { type Packable, packed } from "../server/packing.ts";
import type { ServerLink } from "../server/server-link.ts";

/** Parcels that one call reads. */
const PAGE = 16;
/** Bytes of parcels that one call delivers: about as many rows as a push has. */
const BYTES_MAX = 16_384;

/** Parcels of one call. */
interface Delivery {
  readonly target: number;
  bytes: number;
  readonly parcels: Array<string | Buffer>;
}

export class Outbox {
  readonly #link: ServerLink;
  readonly #channel: string;
  /** Fields that were delivered, by partition, not dropped yet. */
  readonly #delivered = new Map<number, Buffer[]>();
  readonly #dropping = new Map<number, Promise<void>>();

  constructor(link: ServerLink, channel: string) {
    this.#link = link;
    this.#channel = channel;
  }

  /** Forwards a parcel that this process has just made; the codes of its rows, "" where another process was quicker. */
  async forward(
    source: number,
    target: number,
    number: number,
    rows: readonly Packable[],
  ): Promise<string> {
    const answer = await this.#link.run("deliver", target, [
      ...[String(source), this.#channel, String(number), packed(rows)],
    ]);
    await this.#drop(source, fieldOf(target, number));
    return String(answer[1] ?? "");
  }

  /** Forwards what processes that are gone have left; how many parcels there were. */
  async sweep(source: number): Promise<number> {
    let count = 0;
    let cursor = "0";
    do {
      const answer = await this.#link.run("outbox", source, [cursor, String(PAGE)]);
      cursor = String(answer[1]);
      count += await this.#forwardAll(source, answer);
    } while (cursor !== "0");
    return count;
  }

  async #forwardAll(source: number, answer: readonly unknown[]): Promise<number> {
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
      call.parcels.push(String(field.readUIntBE(2, 6)), rows);
    }
    await Promise.all(
      calls.map(({ target, parcels }) =>
        this.#link.run("deliver", target, [String(source), this.#channel, ...parcels]),
      ),
    );
    if (fields.length > 0) await this.#link.run("outbox", source, ["", "", ...fields]);
    return fields.length;
  }

  /** Drops of one turn go together. */
  #drop(source: number, field: Buffer): Promise<void> {
    const list = this.#delivered.get(source) ?? [];
    list.push(field);
    this.#delivered.set(source, list);
    let dropping = this.#dropping.get(source);
    if (dropping === undefined) {
      dropping = new Promise((resolve, reject) => {
        setImmediate(() => {
          const fields = this.#delivered.get(source) ?? [];
          this.#delivered.delete(source);
          this.#dropping.delete(source);
          this.#link.run("outbox", source, ["", "", ...fields]).then(() => resolve(), reject);
        });
      });
      this.#dropping.set(source, dropping);
    }
    return dropping;
  }
}

function fieldOf(target: number, number: number): Buffer {
  const field = Buffer.alloc(8);
  field.writeUInt16BE(target, 0);
  field.writeUIntBE(number, 2, 6);
  return field;
}
