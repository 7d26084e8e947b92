import { describe, expect, it } from "vitest";
import { createPendingValidators } from "../../../../src/crawl/http/pending-validators.ts";
import type { PageState } from "../../../../src/crawl/http/conditional-requests.ts";
import type { Frontier, RequestView } from "../../../../src/index.ts";

const URL_A = "http://a.test/";

function open() {
  const learned: unknown[] = [];
  const learn = (...told: [string, string, PageState]) => learned.push(told);
  const heard: Array<(views: RequestView[]) => void> = [];
  const on = ((_: "done", listener: (views: RequestView[]) => void) => {
    heard.push(listener);
    return () => heard.splice(heard.indexOf(listener), 1);
  }) as unknown as Frontier["on"];
  const offers = createPendingValidators({ learn: (...told) => void learn(...told) }, { on });
  const offer = (deliveries: number, etag?: string, url = URL_A): void =>
    offers.offer(
      { url, rule: "news", deliveries },
      etag === undefined ? {} : { headers: { "if-none-match": etag } },
    );
  const done = (deliveries: number, url = URL_A): void => {
    for (const hear of heard) hear([{ url, deliveries, rule: "since changed" } as RequestView]);
  };
  return { learned, heard, offers, offer, done };
}

describe("validators that a visit offers", () => {
  it("are learned when the frontier says that this very visit is done, once", () => {
    const { learned, offer, done } = open();
    offer(1, '"1"');
    expect(learned).toEqual([]);
    done(1);
    done(1);
    expect(learned).toEqual([[URL_A, "news", { headers: { "if-none-match": '"1"' } }]]);
    offer(2);
    done(2);
    expect(learned).toEqual([expect.anything(), [URL_A, "news", {}]]);
  });

  it("are dropped when the visit ended too late, whoever is done instead", () => {
    const { learned, offer, done } = open();
    offer(1, '"late"');
    done(2); // answered 304: it had nothing to offer
    done(1);
    offer(3, '"later"');
    offer(4, '"4"');
    done(4);
    expect(learned).toEqual([[URL_A, "news", { headers: { "if-none-match": '"4"' } }]]);
  });

  it("make the frontier tell of what is done from the first of them on, once, until they are closed", () => {
    const { heard, offers, offer } = open();
    expect(heard).toHaveLength(0);
    offer(1, '"1"');
    offer(2, '"2"');
    expect(heard).toHaveLength(1);
    offers.close();
    expect(heard).toHaveLength(0);
  });

  it("are bounded, the oldest dropped first", () => {
    const { learned, offer, done } = open();
    for (let page = 0; page <= 10_000; page++) offer(1, '"1"', `${URL_A}${page}`);
    done(1, `${URL_A}0`);
    expect(learned).toEqual([]);
    done(1, `${URL_A}1`);
    expect(learned).toHaveLength(1);
  });
});
