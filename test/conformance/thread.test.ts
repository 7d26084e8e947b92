/** A frontier on a thread of its own against the contract of `AsyncFrontier` and against the naive model. */
import { thread } from "../support/conformance/implementations.ts";
import { contract } from "./contract.ts";
import { random } from "./random.suite.ts";

contract(thread);
random(thread, { programs: 6, perSecond: 1, checkEvery: 7 });
