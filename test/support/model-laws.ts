/**
 * The laws of the naive model: each rule that a mutant breaks, as one small function with a name. The model calls them through
 * `model.laws`, so that a mutant replaces a behaviour and no source text.
 *
 *   laws/leases    ends of leases, attempts, places, due records    laws/admission  limits, duplicates, links, redirects
 *   laws/hosts     delays, blocks, failures, what a clear leaves    laws/epochs     epochs, revisits, what is forgotten
 *   laws/order     who may go, who goes first                       laws/rules      match, shares, swap
 *   laws/groups    limits and clocks above hosts                    laws/views      peek and nextDueAt
 *
 *   I1  A law reads its arguments alone. The one law that changes them is placeWhenDue: it takes the next place.
 */
import { ADMISSION_LAWS, REDIRECT_LAWS } from "./laws/admission.ts";
import { EPOCH_LAWS } from "./laws/epochs.ts";
import { GROUP_LAWS } from "./laws/groups.ts";
import { HOST_LAWS } from "./laws/hosts.ts";
import { LEASE_LAWS } from "./laws/leases.ts";
import { ORDER_LAWS } from "./laws/order.ts";
import { RULE_LAWS } from "./laws/rules.ts";
import { VIEW_LAWS } from "./laws/views.ts";

export const LAWS = {
  ...LEASE_LAWS,
  ...HOST_LAWS,
  ...ORDER_LAWS,
  ...ADMISSION_LAWS,
  ...REDIRECT_LAWS,
  ...EPOCH_LAWS,
  ...RULE_LAWS,
  ...GROUP_LAWS,
  ...VIEW_LAWS,
};

export type Laws = typeof LAWS;
