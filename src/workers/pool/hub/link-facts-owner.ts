/**
 * LinkFactsOwner: the owner's side of what workers may decide by themselves: the facts (protocol/link-facts-message.ts), their
 * generation, and the filter of known identities.
 *
 *   facts change ─▶ odd generation: workers decide nothing ─▶ filter emptied ─▶ next even one ─▶ sent to every seat
 *
 *   I1  A worker decides only with the facts of the generation in the shared memory's word.
 *   I2  The filter holds nothing of an older generation.
 */
import {
  SHARED_FACTS_WORD,
  SHARED_FILTER_OFFSET,
  FACTS_OFF,
} from "../../../layout/threads/worker-seats.ts";
import {
  attachSeenFilter,
  filterClear,
  type SeenFilter,
} from "../../../structures/threads/seen-filter.ts";
import { type NormalPolicy, policyId } from "../../../url/keys/key-policy.ts";
import { sharedWords } from "../../protocol/shared-memory.ts";
import { type LinkFacts, packLinkFacts } from "../../protocol/link-facts-message.ts";
import type { OwnerPort } from "./owner-port.ts";
import type { Seat } from "./worker-seat.ts";

export class LinkFactsOwner {
  readonly filter: SeenFilter;
  readonly #port: OwnerPort;
  readonly #words: Int32Array;
  #facts: LinkFacts | undefined;
  /** The same as it is sent to seats. */
  #packed: Uint8Array | undefined;
  #generation = FACTS_OFF;
  #policy: NormalPolicy | undefined;
  #policyId: string | undefined;
  #policySerial = 0;

  constructor(port: OwnerPort, memory: SharedArrayBuffer) {
    this.#port = port;
    this.#words = sharedWords(memory);
    this.filter = attachSeenFilter({ buffer: memory, offset: SHARED_FILTER_OFFSET });
  }

  /** The facts in force, for a thread that is about to take a seat; undefined: workers decide nothing. */
  get inForce(): { generation: number; packed: Uint8Array } | undefined {
    const packed = this.#packed;
    return packed === undefined ? undefined : { generation: this.#generation, packed };
  }

  /** Whether workers must be sent fingerprints. They make them only where one policy holds for all rules, and always has. */
  get needsPrint(): boolean {
    return this.#policySerial !== 1 || this.#policyId === "";
  }

  /** Follows the frontier: new rules or a new secret begin a new generation; listeners to every link switch the filter off. */
  refresh(seats: readonly Seat[]): void {
    const facts = this.#port.linkFacts();
    if (facts === this.#facts) {
      this.#refreshPolicy();
      return;
    }
    this.#generation = (this.#generation + 1) | 1;
    Atomics.store(this.#words, SHARED_FACTS_WORD, this.#generation); // odd: workers decide nothing
    this.#refreshPolicy();
    if (this.#facts !== undefined) filterClear(this.filter);
    this.#facts = facts;
    this.#packed = facts === undefined ? undefined : packLinkFacts(facts);
    if (this.#packed === undefined) return;
    this.#generation++;
    Atomics.store(this.#words, SHARED_FACTS_WORD, this.#generation); // I1, pairs with LinkFilter
    for (const seat of seats) this.send(seat);
  }

  send(seat: Seat): void {
    if (this.#packed !== undefined) seat.sendLinkFacts(this.#generation, this.#packed);
  }

  /** Ends it for good: workers decide nothing any more. */
  end(): void {
    Atomics.store(this.#words, SHARED_FACTS_WORD, FACTS_OFF);
  }

  /** A key policy that makes other keys of URLs gets another serial. */
  #refreshPolicy(): void {
    const policy = this.#port.keyPolicy();
    if (policy !== undefined && policy === this.#policy) return;
    this.#policy = policy;
    const id = policy === undefined ? "" : policyId(policy);
    if (id === this.#policyId) return;
    this.#policyId = id;
    this.#policySerial++;
  }
}
