/** A frontier on a Redis server against the contract of `AsyncFrontier`, in one partition: order is exact. */
import { afterAll } from "vitest";
import { createRedis } from "../support/conformance/redis.ts";
import { contract } from "./contract.ts";

const { implementation, close } = createRedis();
afterAll(close);

contract(implementation);
