/** A model run with a fresh seed: a record that came again by itself, was put off by hand, and was pushed once its time had come. */
import { expect, it } from "vitest";
import { createVirtualClock, openFrontier } from "../../src/index.ts";

const URL_AGAIN = "https://a.example/";

it("what came again by itself makes way for a push, and no longer once it was put off by hand", async () => {
  for (const isPutOff of [false, true]) {
    const clock = createVirtualClock(1_000);
    const frontier = await openFrontier({ clock, defaults: { epoch: { every: 20 } } });
    frontier.push({ url: URL_AGAIN, data: "first" });
    frontier.poll()?.done();
    expect(frontier.push(URL_AGAIN).status).toBe("duplicate");
    clock.advance(20);
    if (isPutOff) {
      expect(frontier.update(URL_AGAIN, { notBefore: clock.now() + 10 })).toBe(true);
      expect(frontier.push(URL_AGAIN).status).toBe("duplicate");
      clock.advance(10);
    }
    const { status } = frontier.push({ url: URL_AGAIN, data: "second" });
    expect(status).toBe(isPutOff ? "duplicate" : "accepted");
    expect(frontier.pollMany(9).map(({ data }) => data)).toEqual([isPutOff ? "first" : "second"]);
    await frontier.close();
  }
});
