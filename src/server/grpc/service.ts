/**
 * Room `src/server/grpc`: the protocol on the wire: bytes to calls, calls to answers, streams with back-pressure. Decides
 * nothing about URLs: crawls does.
 */

/** The service as grpc-js wants it: 19 methods on raw bytes. */
import type {
  handleBidiStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  ServiceDefinition,
} from "@grpc/grpc-js";

const SERVICE = "urlfrontier.URLFrontier";

/** What a method is to the client: how many messages go and come. */
const METHODS = {
  ListNodes: "unary",
  ListCrawls: "unary",
  DeleteCrawl: "unary",
  ListQueues: "unary",
  GetURLs: "answers",
  PutURLs: "both",
  PutDiscovered: "both",
  GetStats: "unary",
  DeleteQueue: "unary",
  BlockQueueUntil: "unary",
  SetActive: "unary",
  GetActive: "unary",
  SetDelay: "unary",
  SetLogLevel: "unary",
  SetCrawlLimit: "unary",
  GetURLStatus: "unary",
  ListURLs: "answers",
  CountURLs: "unary",
  PurgeURLs: "unary",
} as const;

type MethodName = keyof typeof METHODS;
type HandlerOf<K> = K extends "unary"
  ? handleUnaryCall<Buffer, Buffer>
  : K extends "answers"
    ? handleServerStreamingCall<Buffer, Buffer>
    : handleBidiStreamingCall<Buffer, Buffer>;

/** A handler for each method. */
export type Handlers = { [M in MethodName]: HandlerOf<(typeof METHODS)[M]> };

const asItIs = (bytes: Buffer): Buffer => bytes;

export const SERVICE_DEFINITION: ServiceDefinition = Object.fromEntries(
  Object.entries(METHODS).map(([name, kind]) => [
    name,
    {
      path: `/${SERVICE}/${name}`,
      requestStream: kind === "both",
      responseStream: kind !== "unary",
      requestSerialize: asItIs,
      requestDeserialize: asItIs,
      responseSerialize: asItIs,
      responseDeserialize: asItIs,
      originalName: name,
    },
  ]),
);
