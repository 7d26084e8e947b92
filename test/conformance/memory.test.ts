/** A frontier in memory against the contract of `AsyncFrontier` and against the naive model. */
import { memory } from "../support/conformance/implementations.ts";
import { contract } from "./contract.ts";
import { random } from "./random.suite.ts";

contract(memory);
random(memory, { programs: 20, perSecond: 4, checkEvery: 1 });
