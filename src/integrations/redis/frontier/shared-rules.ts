/**
 * SharedRules: the rules of all processes. Each partition holds the set and its version; a batch that names another version is refused
 * there, and this process reads the set anew and matches again.
 *
 *   set: partition 0 first, which decides between two who set at once ─▶ the others ─▶ a message on the channel
 *
 *   I1  A partition with an older set, left by a process that died while setting, gets the newer one from the next process that meets it.
 */
import type { EventHub } from "../../../engine/event-hub.ts";
import type { RulePolicy } from "../../../frontier/rules/rule-policy.ts";
import {
  createRuleSet,
  readRuleSet,
  type RuleChange,
  type RuleSet,
  termFields,
} from "../requests/rule-set.ts";
import type { RequestReader } from "../requests/request-reader.ts";
import type { ServerLink } from "../server/server-link.ts";

export class SharedRules {
  readonly #link: ServerLink;
  readonly #reader: RequestReader;
  #refreshing: Promise<void> | undefined;

  constructor(link: ServerLink, reader: RequestReader) {
    this.#link = link;
    this.#reader = reader;
  }

  get current(): RuleSet {
    return this.#reader.set;
  }

  /** A partition has answered that its version is another one. */
  async follow(partition: number, version: number): Promise<void> {
    if (version > this.current.version) {
      this.#refreshing ??= this.refresh(partition).finally(() => {
        this.#refreshing = undefined;
      });
      await this.#refreshing;
    } else if (version < this.current.version) await this.#send(partition, this.current, version);
  }

  /** Reads the set of a partition. */
  async refresh(partition: number): Promise<void> {
    const set = await readStoredRules(this.#link, partition);
    if (set === undefined) return;
    const { version, text } = this.current;
    // Another text with the same number: a server that lost its last set was given this one.
    const isOther = set.version === version && set.text !== text;
    if (set.version > version || isOther) this.#reader.use(set);
  }

  /** Replaces the rules everywhere by what `make` returns for those in force; undefined: they stay. */
  async replace(make: RuleChange, defaults: RulePolicy, label?: number | string): Promise<RuleSet> {
    for (;;) {
      const { version, numbers, rules: stored } = this.current;
      const made = make(stored);
      if (made === undefined) return this.current;
      const { rules } = made;
      const next = createRuleSet({
        ...{ rules, defaults, version: version + 1, label: label ?? version + 1 },
        numbers: Object.fromEntries(numbers),
      });
      const other = await this.#send(0, next, version);
      if (other === undefined || (await this.#isStored(next))) {
        await Promise.all(
          this.#link.keys.slice(1).map((_, at) => this.#send(at + 1, next, undefined)),
        );
        this.#reader.use(next);
        return next;
      }
      // Another set was quicker, or a server lost the last one.
      await this.follow(0, other);
    }
  }

  /** Whether partition 0 holds this set: the answer to the call that brought it was lost. */
  async #isStored({ version, text }: RuleSet): Promise<boolean> {
    const stored = await readStoredRules(this.#link, 0);
    return stored?.version === version && stored.text === text;
  }

  /** undefined: it is stored; else the version of another one that is there. */
  async #send(
    partition: number,
    set: RuleSet,
    before: number | undefined,
  ): Promise<number | undefined> {
    const answer = await this.#link.run("rules", partition, [
      ...[before === undefined ? "" : String(before), String(set.version)],
      ...[String(set.numbers.size), set.text, ...termFields(set)],
    ]);
    return String(answer[0]) === "U" ? undefined : Number(answer[1]);
  }
}

/** The set that a partition holds; undefined: none yet. */
export async function readStoredRules(
  link: ServerLink,
  partition: number,
): Promise<RuleSet | undefined> {
  const answer = await link.run("report", partition, ["0"]);
  const version = (answer[2] as Buffer).readDoubleBE(4 * 8);
  const text = await link.ask(partition, "HGET", "rules");
  return text === null ? undefined : readRuleSet(String(text), version);
}

/** URLs that an event names. */
const UNMATCHED_MAX = 1_000;

/** Emits what became of records whose rules are gone. */
export function emitApplied(
  events: EventHub,
  applied: { version: string | number; moved: number; unmatched: readonly string[] },
): void {
  const { version, moved, unmatched } = applied;
  const shown = unmatched.slice(0, UNMATCHED_MAX);
  events.emit("rulesApplied", {
    ...{ version, moved, unmatched: shown, unmatchedCount: unmatched.length },
  });
}
