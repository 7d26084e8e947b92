import { describe, expect, it } from "vitest";
import {
  decodeRequest,
  decodeShaped,
  encodeRequest,
  wholeRequest,
} from "../../../../src/integrations/crawlee/request-codec.ts";
import { requestId } from "../../../../src/integrations/crawlee/request-id.ts";

const plain = {
  method: "GET",
  noRetry: false,
  retryCount: 0,
  errorMessages: [],
  headers: {},
  userData: {},
};
const requestOf = (fields: object): never =>
  ({ ...plain, url: "http://a.test/", uniqueKey: "http://a.test/", ...fields }) as never;

describe("request codec", () => {
  it("makes the id that Crawlee makes", () => {
    expect(requestId("http://example.com/")).toMatch(/^[A-Za-z0-9]{15}$/);
    expect(requestId("http://www.example.com")).toHaveLength(15);
  });

  it.each([
    ["a new request, whose key is its URL", {}, ""],
    ["another key", { uniqueKey: "k" }, "k"],
    [
      "a URL that the parser writes otherwise",
      { url: "HTTP://A.test" },
      [null, "HTTP://A.test", null],
    ],
    ["fields that differ", { retryCount: 2 }, [null, null, '{"retryCount":2}']],
  ])("stores no more than it must: %s", (_, fields, data) => {
    const request = requestOf(fields);
    const input = encodeRequest(request, "id");
    expect(input.data).toEqual(data);
    expect(wholeRequest(decodeRequest("http://a.test/", data, "id"))).toEqual({
      ...(request as object),
      id: "id",
    });
  });

  it.each([{}, { method: "GET" }, { retryCount: 0, payload: Buffer.from("p") }])(
    "keeps which fields a request lacks where that is asked for: %j",
    (fields) => {
      const request = { url: "http://a.test/", uniqueKey: "k", ...fields };
      const { data } = encodeRequest(request, "id", true);
      expect(decodeShaped("http://a.test/", data, "id")).toStrictEqual({ ...request, id: "id" });
      const whole = requestOf({ ...fields, retryCount: 2 });
      const input = encodeRequest(whole, "id", true);
      expect(input).toEqual(encodeRequest(whole, "id"));
      expect(decodeShaped("http://a.test/", input.data, "id")).toEqual({
        ...(whole as object),
        id: "id",
      });
    },
  );

  it("shows data of others as userData", () => {
    const decoded = decodeRequest("http://a.test/", { from: "elsewhere" });
    expect(decoded).toMatchObject({ url: "http://a.test/", userData: { from: "elsewhere" } });
    expect(decodeRequest("http://a.test/", 7).userData).toEqual({ data: 7 });
  });

  it("keeps Crawlee's own part of the userData, and its depth for the rules", () => {
    const userData = Object.defineProperty(
      { toJSON: () => ({ __crawlee: { crawlDepth: 3 } }) },
      "__crawlee",
      {
        value: { crawlDepth: 3 },
      },
    );
    Object.defineProperty(userData, "toJSON", { enumerable: false });
    const input = encodeRequest(requestOf({ userData }), "id");
    expect(input.depth).toBe(3);
    expect(decodeRequest("http://a.test/", input.data).userData).toEqual({
      __crawlee: { crawlDepth: 3 },
    });
  });
});
