/** Which functions of the user a decision asks, and that explain decides as a push does. */
import { expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";

it("asks for the politeness unit of a request that finds no room, and explain does not", async () => {
  const asked: string[] = [];
  const by = (url: string): string => {
    asked.push(url);
    return "one";
  };
  const frontier = await openFrontier({
    ...{ capacity: 1, keepOpen: true, defaults: { politeness: { by } } },
  });
  expect(frontier.push("http://a.example/1").status).toBe("accepted");
  expect(frontier.explain("http://a.example/2").verdict.status).toBe("full");
  expect(asked).toEqual(["http://a.example/1"]);
  expect(frontier.push("http://a.example/2").status).toBe("full");
  expect(asked).toEqual(["http://a.example/1", "http://a.example/2"]);
  await frontier.close();
});
