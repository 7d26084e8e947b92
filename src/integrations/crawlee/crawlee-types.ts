/**
 * Room `src/integrations/crawlee`: Crawlee's crawlers on our frontier. It decides how a request of Crawlee's becomes a request of
 * ours and back, and may touch the public entries, `base`, and Crawlee itself, which the user installs.
 *
 *   FrontierRequestManager ─┐                        (request-manager.ts: the queue of one crawler, v3 and v4)
 *   OutriderStorage ────────┼─▶ RequestStore ─▶ Frontier | AsyncFrontier
 *   OutriderStorageBackend ─┘   (request-store.ts)   (memory, directory, owner's thread, Redis)
 *
 * These are the parts of Crawlee's own types that we use. Nothing of its packages is imported here, so that the types of this entry can
 * be read with either version installed, or with none.
 */

/**
 * A `Request` of Crawlee's, as far as we read and write it.
 *
 * @example
 * const request = await manager.fetchNextRequest();
 * console.log(request?.url, request?.retryCount);
 */
export interface CrawleeRequest {
  /**
   * Crawlee's id.
   * @defaultValue set by the queue
   */
  id?: string | undefined;
  /** The URL, as it was added. */
  url: string;
  /** What makes two requests the same one. */
  uniqueKey: string;
  /**
   * HTTP method.
   * @defaultValue "GET"
   */
  method?: string | undefined;
  /**
   * The URL that was loaded in the end, after redirects.
   * @defaultValue none was loaded
   */
  loadedUrl?: string | undefined;
  /**
   * Body of the request.
   * @defaultValue none
   */
  payload?: string | Uint8Array | undefined;
  /**
   * Whether it is never tried again.
   * @defaultValue false
   */
  noRetry?: boolean | undefined;
  /**
   * How often it was tried again.
   * @defaultValue 0
   */
  retryCount?: number | undefined;
  /**
   * What went wrong, attempt by attempt.
   * @defaultValue none
   */
  errorMessages?: string[] | undefined;
  /**
   * Headers to send.
   * @defaultValue none
   */
  headers?: Record<string, string> | undefined;
  /**
   * The user's data.
   * @defaultValue none
   */
  userData?: object | undefined;
  /**
   * When it was handled, as an ISO date.
   * @defaultValue not handled
   */
  handledAt?: string | undefined;
}

/** A request as Crawlee's storages carry it: plain data. Fields that are as in a new request may be missing. */
export interface StoredRequest extends CrawleeRequest {
  /** Crawlee's id: fifteen characters of the hash of the unique key. */
  id: string;
}

/** What may be added: a URL, the options of a request, a `Request`, or a list behind `requestsFromUrl`. */
export type RequestSource = string | object;

/** Many of them. */
export type RequestSources = Iterable<RequestSource> | AsyncIterable<RequestSource>;

/**
 * Options of an operation on one request.
 *
 * @example
 * await manager.addRequest("https://example.org/", { forefront: true });
 */
export interface OperationOptions {
  /**
   * Before every other request, the last such one first.
   * @defaultValue false
   */
  forefront?: boolean | undefined;
  /**
   * For Crawlee's own caches; ignored here.
   * @defaultValue none
   */
  cache?: boolean | undefined;
}

/**
 * Options of `addRequestsBatched`.
 *
 * @example
 * await manager.addRequestsBatched(urls, { waitForAllRequestsToBeAdded: true });
 */
export interface BatchedOptions extends OperationOptions {
  /**
   * Whether the call resolves when the last batch is in, not the first.
   * @defaultValue false
   */
  waitForAllRequestsToBeAdded?: boolean | undefined;
  /**
   * Requests of a batch.
   * @defaultValue 1,000
   */
  batchSize?: number | undefined;
  /**
   * Pause between two batches in milliseconds. Crawlee's own queue waits 1,000, to spare a service that this one does not have.
   * @defaultValue 0
   */
  waitBetweenBatchesMillis?: number | undefined;
  /**
   * Most requests that are new; what exceeds it comes back as `requestsOverLimit`.
   * @defaultValue no limit
   */
  maxNewRequests?: number | undefined;
}

/** What became of a request that was added. */
export interface ProcessedRequest {
  /** Crawlee's id. */
  requestId: string;
  /** Its unique key. */
  uniqueKey: string;
  /** Whether it was in the queue. */
  wasAlreadyPresent: boolean;
  /** Whether it was handled. */
  wasAlreadyHandled: boolean;
}

/** What became of one operation. */
export interface OperationInfo extends ProcessedRequest {
  /** Whether it goes before the others. */
  forefront: boolean;
}

/**
 * A request that was not taken.
 *
 * @example
 * const { unprocessedRequests } = await manager.addRequests(urls);
 */
export interface UnprocessedRequest {
  /** Its unique key. */
  uniqueKey: string;
  /** Its URL. */
  url: string;
  /**
   * Its HTTP method.
   * @defaultValue "GET"
   */
  method?: string;
}

/** What became of a batch. */
export interface BatchResult {
  /** What the queue holds now. */
  processedRequests: ProcessedRequest[];
  /** What it refused. */
  unprocessedRequests: UnprocessedRequest[];
}

/**
 * What became of many requests.
 *
 * @example
 * const { addedRequests, waitForAllRequestsToBeAdded } = await manager.addRequestsBatched(urls);
 * await waitForAllRequestsToBeAdded;
 */
export interface BatchedResult {
  /** What is in the queue by now. */
  addedRequests: ProcessedRequest[];
  /** The rest, when it is in. */
  waitForAllRequestsToBeAdded: Promise<ProcessedRequest[]>;
  /**
   * What `maxNewRequests` left out; URLs as objects.
   * @defaultValue none: there was no limit
   */
  requestsOverLimit?: Array<{
    /**
     * Its URL.
     * @defaultValue none: a source of many URLs
     */
    url?: string;
  }>;
}

/** Counts of a queue. */
export interface QueueCounts {
  /** Requests that were ever added and are known. */
  totalRequestCount: number;
  /** Requests that were handled. */
  handledRequestCount: number;
  /** Requests that are not handled yet. */
  pendingRequestCount: number;
}

/** What a queue shows of itself. */
export interface QueueInfo extends QueueCounts {
  /** Its id. */
  id: string;
  /** Its name. */
  name?: string;
  /** When it was made. */
  createdAt: Date;
  /** When it was changed last. */
  modifiedAt: Date;
  /** When it was read last. */
  accessedAt: Date;
}
