/**
 * A NormalPolicy as the bytes that the kernel reads (layout/calls/key-policy.ts): flags, counts, ends, names. Only the profiles `canonical`
 * and `url` have such bytes; keys of `w3lib`, and of `url` with `keepParams`, are made in JavaScript.
 */
import {
  POLICY_DROP_COUNT_WORD,
  POLICY_DROP_PARAMS,
  POLICY_DROP_QUERY,
  POLICY_DROP_USERINFO,
  POLICY_ENDS_WORD,
  POLICY_FLAGS_WORD,
  POLICY_KEEP_COUNT_WORD,
  POLICY_KEEP_FRAGMENT,
  POLICY_KEEP_PARAMS,
  POLICY_RAW,
  POLICY_UNSORTED,
} from "../../layout/calls/key-policy.ts";
import type { NormalPolicy } from "./key-policy.ts";

/** The packed policy; empty for the default policy, which is built into the kernel. */
export function packPolicy(policy: NormalPolicy): Uint8Array {
  const flags = policyFlags(policy);
  if (flags === 0) return new Uint8Array(0);
  const isRaw = (flags & POLICY_RAW) !== 0;
  const keep = isRaw ? [] : (policy.keepParams ?? []);
  const drop = isRaw ? [] : policy.dropParams;
  const names = [...keep, ...drop].map((name) => Buffer.from(name, "latin1"));
  const words = new Uint32Array(POLICY_ENDS_WORD + names.length);
  words[POLICY_FLAGS_WORD] = flags;
  words[POLICY_KEEP_COUNT_WORD] = keep.length;
  words[POLICY_DROP_COUNT_WORD] = drop.length;
  let end = 0;
  for (let i = 0; i < names.length; i++) {
    end += (names[i] as Buffer).length;
    words[POLICY_ENDS_WORD + i] = end;
  }
  return Buffer.concat([new Uint8Array(words.buffer), ...names]);
}

function policyFlags(policy: NormalPolicy): number {
  const fragment = policy.fragment === "keep" ? POLICY_KEEP_FRAGMENT : 0;
  if (policy.profile === "url") return POLICY_RAW | fragment;
  let flags = fragment;
  if (policy.userInfo === "drop") flags |= POLICY_DROP_USERINFO;
  if (!policy.sortQuery) flags |= POLICY_UNSORTED;
  if (policy.keepParams !== undefined) {
    flags |= policy.keepParams.length === 0 ? POLICY_DROP_QUERY : POLICY_KEEP_PARAMS;
  }
  if (policy.dropParams.length > 0) flags |= POLICY_DROP_PARAMS;
  return flags;
}
