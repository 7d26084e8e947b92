/**
 * RequestInstances: instances of Crawlee's class Request from what a queue has stored. The constructor of version 3 checks every option, on
 * each fetch, of a request that it checked when it was added; that is most of what a fetch costs.
 *
 *   class met first ─▶ samples by constructor = samples assembled? ─▶ yes: assembled from then on
 *                                                                  └▶ no:  by constructor
 *
 *   I1  An assembled instance has the fields of a constructed one: names, order, flags, values, and what its userData does.
 */
import { isDeepStrictEqual } from "node:util";
import type { RequestClass } from "./crawlee-packages.ts";
import type { CrawleeRequest, StoredRequest } from "./crawlee-types.ts";
import { wholeRequest } from "./request-codec.ts";

/** Makes a request of Crawlee's of what was stored. */
export type MakeRequest = (stored: StoredRequest) => CrawleeRequest;

type UserData = Record<string, unknown> & { __crawlee?: object };
interface WithUserData {
  _userData: UserData;
}

/** Fields that assembly sets; a request with others goes through the constructor. */
const KNOWN = new Set([
  ...["id", "url", "loadedUrl", "uniqueKey", "method", "payload", "noRetry", "retryCount"],
  ...["errorMessages", "headers", "userData", "handledAt"],
]);

/** How requests of a class are made fastest. */
export function requestMaker(Request: RequestClass): MakeRequest {
  const { fromSchema } = Request;
  if (fromSchema !== undefined) return (stored) => fromSchema.call(Request, wholeRequest(stored));
  const construct: MakeRequest = ({ id, ...options }) =>
    Object.assign(new Request(options as never), { id });
  const assemble = assemblerOf(Request);
  if (!SAMPLES.every((sample) => isAlike(construct(sample()), assemble(sample()))))
    return construct;
  return (stored) => {
    for (const field in stored) if (!KNOWN.has(field)) return construct(stored);
    return assemble(stored);
  };
}

function assemblerOf(Request: RequestClass): MakeRequest {
  // A function, so that all instances share one shape.
  function Assembled(this: Record<string, unknown>, stored: StoredRequest): void {
    this.id = stored.id;
    this.url = stored.url;
    this.loadedUrl = stored.loadedUrl;
    this.uniqueKey = stored.uniqueKey;
    this.method = stored.method ?? "GET";
    this.payload = stored.payload;
    this.noRetry = stored.noRetry ?? false;
    this.retryCount = stored.retryCount ?? 0;
    this.errorMessages = stored.errorMessages ?? [];
    this.headers = stored.headers ?? {};
    const userData = (stored.userData ?? {}) as UserData;
    hide(userData, userData.__crawlee ?? {});
    Object.defineProperty(this, "_userData", {
      value: userData,
      writable: true,
      configurable: true,
    });
    Object.defineProperty(this, "userData", USER_DATA);
    this.handledAt = stored.handledAt;
  }
  Assembled.prototype = Request.prototype;
  const Made = Assembled as unknown as new (stored: StoredRequest) => CrawleeRequest;
  return (stored) => new Made(stored);
}

function hide(data: UserData, internals: object | undefined): void {
  Object.defineProperty(data, "__crawlee", { value: internals, enumerable: false, writable: true });
  Object.defineProperty(data, "toJSON", AS_JSON);
}

/** `userData` of a request: its data, whose `__crawlee` is hidden from loops and shown in JSON. */
const USER_DATA: PropertyDescriptor & ThisType<WithUserData> = {
  get() {
    return this._userData;
  },
  set(data: UserData) {
    hide(data, this._userData.__crawlee);
    this._userData = data;
  },
  enumerable: true,
  configurable: true,
};

function userDataAsJson(this: UserData): UserData {
  const { __crawlee = {} } = this;
  return Object.keys(__crawlee).length > 0 ? { ...this, __crawlee } : this;
}

const AS_JSON = { value: userDataAsJson, enumerable: false, writable: true };

/** What the trial makes in both ways: each call anew, since a constructor may change what it is given. */
const SAMPLES: ReadonlyArray<() => StoredRequest> = [
  () => ({ id: "a", url: "http://a.test/", uniqueKey: "http://a.test/" }),
  () => ({
    ...{ id: "b", url: "http://b.test/", loadedUrl: "http://b.test/c", uniqueKey: "key" },
    ...{ method: "POST", payload: "text", noRetry: true, retryCount: 2 },
    ...{ errorMessages: ["first"], headers: { accept: "*/*" } },
    ...{ userData: { own: { deep: [1] }, label: "LIST" }, handledAt: "2020-01-01T00:00:00.000Z" },
  }),
  () => ({
    ...{ id: "c", url: "http://c.test/", uniqueKey: "c" },
    userData: { own: 1, __crawlee: { crawlDepth: 3, enqueueStrategy: "all", state: 2 } },
  }),
];

/** Whether two requests are the same, also after new userData (I1). */
function isAlike(made: CrawleeRequest, other: CrawleeRequest): boolean {
  if (!isDeepStrictEqual(shapeOf(made), shapeOf(other))) return false;
  for (const request of [made, other]) request.userData = { later: true };
  if (!isDeepStrictEqual(shapeOf(made), shapeOf(other))) return false;
  for (const request of [made, other]) Object.assign(request, { label: "NEXT", crawlDepth: 1 });
  return isDeepStrictEqual(shapeOf(made), shapeOf(other));
}

function shapeOf(request: CrawleeRequest): unknown[] {
  const data = request.userData as object;
  return [
    Object.getPrototypeOf(request),
    propertiesOf(request),
    propertiesOf(data),
    JSON.stringify(request),
  ];
}

/** Names, flags and values in order; of accessors and functions that they are there. */
function propertiesOf(thing: object): unknown[] {
  return Object.entries(Object.getOwnPropertyDescriptors(thing)).map(([name, property]) => {
    const { value, get, set, ...flags } = property;
    const isPlain = typeof value !== "function";
    return [name, flags, typeof get, typeof set, isPlain ? value : "function"];
  });
}
