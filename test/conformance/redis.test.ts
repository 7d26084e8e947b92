/** A frontier on a Redis server against the contract of `AsyncFrontier`, in one partition: order is exact. */
import { afterAll } from "vitest";
import { createRedis } from "../support/conformance/redis.ts";
import { contract } from "./contract.ts";
import { random } from "./random.suite.ts";

const { implementation, close } = createRedis();
afterAll(close);

contract(implementation);
random(implementation, { programs: 20, perSecond: 4, checkEvery: 1, withRules: false });
