/** A client of the protocol that shares nothing with the server: messages by protobufjs, from the definition. */
import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { onTestFinished } from "vitest";
import { type ServeOptions, type Server, serve } from "../../src/server.ts";

const PROTO = fileURLToPath(new URL("../../docs/urlfrontier.proto", import.meta.url));
const service = grpc.loadPackageDefinition(
  loadSync(PROTO, { keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true }),
) as unknown as { urlfrontier: { URLFrontier: grpc.ServiceClientConstructor } };

/** A plain message, by the names of the definition. */
export type Message = Record<string, unknown>;
export interface Ack {
  readonly ID: string;
  readonly status: "OK" | "SKIPPED" | "FAIL";
}
export interface Info {
  readonly url: string;
  readonly key: string;
  readonly crawlID: string;
  readonly metadata: Record<string, { values: string[] }>;
}
export interface Item {
  readonly known: { info: Info; refetchable_from_date: number } | null;
  readonly creation_date: number;
}
export interface Stats {
  readonly size: number;
  readonly inProcess: number;
  readonly counts: Record<string, number>;
  readonly numberOfQueues: number;
  readonly crawlID: string;
}

type Duplex = grpc.ClientDuplexStream<unknown, never>;

export interface Client {
  readonly raw: grpc.Client;
  /** A call whose answers the test takes itself. */
  open(method: string, ...args: unknown[]): Duplex;
  /** A call with one answer. */
  call<T = Message>(method: string, request?: Message): Promise<T>;
  /** All answers of a call. */
  list<T = Message>(method: string, request?: Message): Promise<T[]>;
  /** Sends messages on one stream, ends it, and returns all answers. */
  stream<T = Message>(method: string, messages: Iterable<Message>): Promise<T[]>;
  put(...items: Message[]): Promise<string[]>;
  /** URLs of one GetURLs. */
  get(params?: Message): Promise<string[]>;
  stats(crawlID?: string, key?: string): Promise<Stats>;
  status(url: string, key: string, crawlID?: string): Promise<Item>;
}

/** A server that ends with the test. */
export async function serving(options: ServeOptions = {}): Promise<Server> {
  const server = await serve({ port: 0, httpPort: 0, ...options });
  onTestFinished(() => server.close());
  return server;
}

export function connect(
  port: number,
  {
    credentials = grpc.credentials.createInsecure(),
    token,
    options = {},
    host = "127.0.0.1",
  }: {
    credentials?: grpc.ChannelCredentials;
    token?: string;
    options?: grpc.ClientOptions;
    host?: string;
  } = {},
): Client {
  const raw = new service.urlfrontier.URLFrontier(`${host}:${port}`, credentials, options);
  onTestFinished(() => raw.close());
  const headers = new grpc.Metadata();
  if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
  const methods = raw as unknown as Record<string, (...args: unknown[]) => never>;
  const answersOf = <T>(stream: grpc.ClientReadableStream<T>): Promise<T[]> =>
    new Promise((resolve, reject) => {
      const answers: T[] = [];
      stream.on("data", (one: T) => answers.push(one));
      stream.on("error", reject);
      stream.on("end", () => resolve(answers));
    });
  const client: Client = {
    raw,
    call: (method, request = {}) =>
      new Promise((resolve, reject) => {
        methods[method]?.(request, headers, (cause: unknown, answer: never) =>
          cause === null ? resolve(answer) : reject(cause),
        );
      }),
    list: (method, request = {}) =>
      answersOf(methods[method]?.(request, headers) as unknown as grpc.ClientReadableStream<never>),
    open: (method, ...args) => methods[method]?.(...args) as unknown as Duplex,
    stream(method, messages) {
      const stream = methods[method]?.(headers) as unknown as Duplex;
      const answers = answersOf(stream);
      for (const message of messages) stream.write(message);
      stream.end();
      return answers as Promise<never[]>;
    },
    put: async (...items) =>
      (await client.stream<Ack>("PutURLs", items)).map(({ status }) => status),
    get: async (params = {}) => (await client.list<Info>("GetURLs", params)).map(({ url }) => url),
    stats: (crawlID = "", key = "") => client.call("GetStats", { crawlID, key }),
    status: (url, key, crawlID = "") => client.call("GetURLStatus", { url, key, crawlID }),
  };
  return client;
}

export function found(url: string, rest: Partial<Info> & { ID?: string } = {}): Message {
  const { ID = "", ...info } = rest;
  return { ID, discovered: { info: { url, ...info } } };
}

export function known(
  url: string,
  refetchable_from_date: number,
  rest: Partial<Info> & { ID?: string } = {},
): Message {
  const { ID = "", ...info } = rest;
  return { ID, known: { info: { url, ...info }, refetchable_from_date } };
}
