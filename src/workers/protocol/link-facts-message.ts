/**
 * Link facts, owner to worker: what a worker needs to decide about links by itself. An immutable set of rules, sent whole
 * to every seat; valid while the shared memory's generation (layout/threads/worker-seats.ts) is the one that it names.
 */
import { InvariantError } from "../../base/errors.ts";
import { compileUrlPattern, type UrlPattern } from "../../base/pattern/url-pattern.ts";
import { MESSAGE_LINK_FACTS } from "../../layout/threads/worker-messages.ts";
import type { RuleMatch } from "../../url/matching/rule-matcher.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { pack, unpack } from "./message-values.ts";
import { beginMessage, endMessage, type Sender } from "./message-sender.ts";

/** The part of a rule that needs no state. */
export interface LinkRule {
  readonly id: string;
  readonly match: RuleMatch;
  readonly maxDepth: number;
  /** Links of its pages are admitted. */
  readonly follow: boolean;
}

export interface LinkFacts {
  /** In the order of the set. */
  readonly rules: readonly LinkRule[];
  /** The key policy of all rules; undefined: only the owner decides which links are known. */
  readonly policy: NormalPolicy | undefined;
  /** Four words: the tables' secret. */
  readonly secret: readonly number[];
}

/** A pattern is sent as its text and flags. */
type Packed = Omit<LinkRule, "match"> & {
  readonly match: Omit<RuleMatch, "pattern">;
  readonly flags: string;
};

const HEAD_BYTES = 8;

/** Packs the facts once for all seats. */
export function packLinkFacts({ rules, policy, secret }: LinkFacts): Uint8Array {
  const packed = rules.map(({ match: { pattern, ...match }, ...rule }): Packed => {
    return { ...rule, match, flags: pattern?.flags ?? "" };
  });
  return pack({ rules: packed, policy: policy ?? null, secret });
}

export function writeLinkFacts(sender: Sender, generation: number, packed: Uint8Array): void {
  const size = HEAD_BYTES + packed.length;
  const draft = beginMessage(sender, size);
  draft.bytes.writeInt32LE(MESSAGE_LINK_FACTS, draft.start);
  draft.bytes.writeInt32LE(generation, draft.start + 4);
  draft.bytes.set(packed, draft.start + HEAD_BYTES);
  endMessage(sender, draft, size);
}

export function linkFactsGeneration(bytes: Buffer, start: number): number {
  return bytes.readInt32LE(start + 4);
}

export function readLinkFacts(bytes: Buffer, start: number, size: number): LinkFacts {
  return unpackLinkFacts(bytes.subarray(start + HEAD_BYTES, start + size));
}

export function unpackLinkFacts(packed: Uint8Array): LinkFacts {
  const { rules, policy, secret } = unpack(packed) as {
    rules: Packed[];
    policy: (NormalPolicy & { keepParams: readonly string[] | null }) | null;
    secret: number[];
  };
  return {
    rules: rules.map(({ match, flags, ...rule }) => {
      const { patternText } = match;
      const pattern = patternText === "" ? undefined : patternOf(patternText, flags);
      return { ...rule, match: { ...match, pattern } };
    }),
    // msgpack turns undefined into null.
    policy:
      policy === null
        ? undefined
        : { ...policy, keepParams: policy.keepParams ?? undefined, keyOf: undefined },
    secret,
  };
}

/** The owner compiled the same text before. */
function patternOf(text: string, flags: string): UrlPattern {
  const compiled = compileUrlPattern(text, flags);
  if (typeof compiled === "string") throw new InvariantError(`a pattern of the owner: ${compiled}`);
  return compiled;
}
