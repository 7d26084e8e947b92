/** All parts of the contract, in the order in which they find most faults soonest. */
import type { Implementation } from "../support/conformance/implementations.ts";
import { hosts } from "./hosts.suite.ts";
import { leases } from "./leases.suite.ts";
import { life } from "./life.suite.ts";
import { order, shares } from "./order.suite.ts";
import { epochs, put, records } from "./records.suite.ts";
import { refusals } from "./refusals.suite.ts";
import { identity, verdicts } from "./verdicts.suite.ts";

/** Registers a test for each sentence of the contract that the implementation supports. */
export function contract(implementation: Implementation): void {
  const parts = [verdicts, identity, order, shares, hosts, leases, records, put, epochs, life];
  for (const part of [...parts, refusals]) part(implementation);
}
