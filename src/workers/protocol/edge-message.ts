/**
 * Edge message, owner to worker: what a worker needs to decide about links by itself. An immutable set of rules, sent whole
 * to every seat; it holds while the crew's generation (layout/crew.ts) is the one that it names.
 */
import { MESSAGE_EDGE } from "../../layout/message.ts";
import type { RuleMatch } from "../../url/matcher.ts";
import type { NormalPolicy } from "../../url/policy.ts";
import { pack, unpack } from "./pack.ts";
import { beginMessage, endMessage, type Sender } from "./sender.ts";

/** What of a rule needs no state. */
export interface EdgeRule {
  readonly id: string;
  readonly match: RuleMatch;
  readonly maxDepth: number;
  /** Links of its pages are taken. */
  readonly follow: boolean;
}

export interface EdgeFacts {
  /** In the order of the set. */
  readonly rules: readonly EdgeRule[];
  /** The key of all rules; undefined: which links are known, the owner alone decides. */
  readonly policy: NormalPolicy | undefined;
  /** Four words: the tables' secret. */
  readonly secret: readonly number[];
}

/** A pattern goes over as its text and flags. */
type Packed = Omit<EdgeRule, "match"> & {
  readonly match: Omit<RuleMatch, "pattern">;
  readonly flags: string;
};

const HEAD_BYTES = 8;

/** Made once for all seats. */
export function packEdge({ rules, policy, secret }: EdgeFacts): Uint8Array {
  const packed = rules.map(({ match: { pattern, ...match }, ...rule }): Packed => {
    return { ...rule, match, flags: pattern?.flags ?? "" };
  });
  return pack({ rules: packed, policy: policy ?? null, secret });
}

export function writeEdge(sender: Sender, generation: number, packed: Uint8Array): void {
  const size = HEAD_BYTES + packed.length;
  const draft = beginMessage(sender, size);
  draft.bytes.writeInt32LE(MESSAGE_EDGE, draft.start);
  draft.bytes.writeInt32LE(generation, draft.start + 4);
  draft.bytes.set(packed, draft.start + HEAD_BYTES);
  endMessage(sender, draft, size);
}

export function edgeGeneration(bytes: Buffer, start: number): number {
  return bytes.readInt32LE(start + 4);
}

export function readEdge(bytes: Buffer, start: number, size: number): EdgeFacts {
  return unpackEdge(bytes.subarray(start + HEAD_BYTES, start + size));
}

export function unpackEdge(packed: Uint8Array): EdgeFacts {
  const { rules, policy, secret } = unpack(packed) as {
    rules: Packed[];
    policy: (NormalPolicy & { keepParams: readonly string[] | null }) | null;
    secret: number[];
  };
  return {
    rules: rules.map(({ match, flags, ...rule }) => {
      const { patternText } = match;
      const pattern = patternText === "" ? undefined : new RegExp(patternText, flags);
      return { ...rule, match: { ...match, pattern } };
    }),
    // What is undefined there comes as null.
    policy:
      policy === null
        ? undefined
        : { ...policy, keepParams: policy.keepParams ?? undefined, keyOf: undefined },
    secret,
  };
}
