/** A frontier in a directory against the contract of `AsyncFrontier` and against the naive model. */
import { directory } from "../support/conformance/implementations.ts";
import { contract } from "./contract.ts";
import { random } from "./random.suite.ts";

contract(directory);
random(directory, { programs: 10, perSecond: 2, checkEvery: 1 });
