/**
 * Errors between a URL and its bytes, in classes that a retry policy can distinguish.
 *
 *   transient   dns (the server did not answer), connect, proxy (it refused), timeout, reset: the same request may work later
 *   permanent   address (the guard), plain-http (no TLS where https was asked for), too-large, encoding, protocol, and names that do not
 *               exist: another request fails alike
 */

/**
 * What failed. `dns`, `connect`, `proxy`, `timeout`, `reset` and `aborted` may succeed later; the others will not.
 */
export type DownloadFault =
  | "address"
  | "dns"
  | "no-host"
  | "connect"
  | "proxy"
  | "timeout"
  | "reset"
  | "tls"
  | "plain-http"
  | "protocol"
  | "encoding"
  | "too-large"
  | "aborted";

const TRANSIENT: ReadonlySet<DownloadFault> = new Set<DownloadFault>([
  "dns",
  "connect",
  "proxy",
  "timeout",
  "reset",
  "aborted",
]);

/** A download that failed. */
export class DownloadError extends Error {
  /** What failed. */
  readonly fault: DownloadFault;
  /** Whether the same request may succeed later. */
  readonly isTransient: boolean;

  /** For downloaders of your own. */
  constructor(fault: DownloadFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "DownloadError";
    this.fault = fault;
    this.isTransient = TRANSIENT.has(fault);
  }
}

const BY_CODE: Record<string, DownloadFault> = {
  ENOTFOUND: "no-host",
  EAI_NONAME: "no-host",
  EAI_NODATA: "no-host",
  EAI_AGAIN: "dns",
  EAI_FAIL: "dns",
  ECONNREFUSED: "connect",
  EHOSTUNREACH: "connect",
  EHOSTDOWN: "connect",
  ENETUNREACH: "connect",
  ENETDOWN: "connect",
  EACCES: "connect",
  EPERM: "connect",
  // This machine's shortages pass.
  EMFILE: "connect",
  ENFILE: "connect",
  ENOBUFS: "connect",
  ENOMEM: "connect",
  EADDRNOTAVAIL: "connect",
  ECONNABORTED: "reset",
  ENOTCONN: "reset",
  EPROTO: "tls",
  ETIMEDOUT: "timeout",
  ECONNRESET: "reset",
  EPIPE: "reset",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  UND_ERR_SOCKET: "reset",
  UND_ERR_HEADERS_OVERFLOW: "protocol",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "reset",
  UND_ERR_RES_EXCEEDED_MAX_SIZE: "too-large",
  UND_ERR_ABORTED: "aborted",
  UND_ERR_DESTROYED: "aborted",
  UND_ERR_CLOSED: "aborted",
  ERR_BUFFER_TOO_LARGE: "too-large",
  ERR_HTTP2_INVALID_SESSION: "reset",
  ERR_HTTP2_GOAWAY_SESSION: "reset",
  ERR_HTTP2_SESSION_ERROR: "reset",
  ERR_HTTP2_STREAM_CANCEL: "reset",
  ERR_HTTP2_OUT_OF_STREAMS: "reset",
};

/** Codes with which a stream of HTTP/2 is reset, where another request fails alike; after any other it may work. */
const FINAL_RESETS: ReadonlyArray<readonly [RegExp, DownloadFault]> = [
  [/NGHTTP2_(PROTOCOL|COMPRESSION|FRAME_SIZE|FLOW_CONTROL)_ERROR$/, "protocol"],
  [/NGHTTP2_HTTP_1_1_REQUIRED$/, "protocol"],
  [/NGHTTP2_INADEQUATE_SECURITY$/, "tls"],
];

/** How undici reports, under a code of its own, that a stream of HTTP/2 has ended without an answer. */
const BARE_END = /^HTTP\/2: stream /;

/** undici's message for a proxy that refused to connect; its code is the one of an aborted request. */
const BY_PROXY = /^Proxy response \(\d+\)/;

/** OpenSSL's messages for plain text where a TLS record was expected. */
const PLAIN_HTTP = /wrong version number|packet length too long|ssl3_get_record:http request/i;

/** Converts any error of a socket, a parser or a decoder to a DownloadError. */
export function downloadError(cause: unknown): DownloadError {
  if (cause instanceof DownloadError) return cause;
  const inner = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
  if (inner instanceof DownloadError) return inner;
  const { code, message } = (inner ?? {}) as { code?: unknown; message?: unknown };
  const text = typeof message === "string" && message !== "" ? message : String(inner);
  if (PLAIN_HTTP.test(text)) {
    const what = "plain HTTP is spoken on this port (expected: TLS, as the URL begins with https)";
    return new DownloadError("plain-http", what, cause);
  }
  if (BY_PROXY.test(text)) return new DownloadError("proxy", text, cause);
  const name = typeof code === "string" ? code : "";
  const known = BY_CODE[name];
  if (known !== undefined) return new DownloadError(known, text, cause);
  if (name === "ERR_HTTP2_STREAM_ERROR" || BARE_END.test(text)) {
    const fault = FINAL_RESETS.find(([pattern]) => pattern.test(text))?.[1] ?? "reset";
    return new DownloadError(fault, text, cause);
  }
  if (name.startsWith("HPE_")) return new DownloadError("protocol", text, cause);
  if (/^(Z_|ERR__ERROR_|ERR_BROTLI|ERR_ZSTD|ZSTD_error_|ERR_PADDING)/.test(name)) {
    return new DownloadError("encoding", text, cause);
  }
  if (/^(CERT_|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED|ERR_TLS|ERR_SSL)/.test(name)) {
    return new DownloadError("tls", text, cause);
  }
  return new DownloadError("protocol", text, cause);
}

export function refusedCoding(coding: string): DownloadError {
  return new DownloadError("encoding", `content-encoding: ${coding}`);
}
