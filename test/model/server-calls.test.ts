/** Random calls of the protocol against a naive model of URLFrontier's service: what each answers, and what is left. */
import { describe } from "vitest";
import { testServerCalls } from "../support/server-calls.ts";

describe("the calls of the protocol", () => {
  testServerCalls("memory");
  testServerCalls("directory");
});
