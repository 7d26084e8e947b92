/** What went over the wire for one download, as archives keep it. */
import type { DownloadRequest, Exchange } from "../module-registry.ts";
import { lowerCase, type RawDownload } from "./http-exchange.ts";

interface Sent {
  /** Headers of every request. */
  readonly fixed: Record<string, string>;
  readonly url: URL;
  readonly atMs: number;
  readonly address: string | undefined;
}

/** The request as undici writes it, with the two headers that it adds first, and the response as it was read. */
export function exchangeOf(
  request: DownloadRequest,
  raw: RawDownload,
  { fixed, url, atMs, address }: Sent,
): Exchange {
  const headers = { ...fixed, ...lowerCase(request.headers) };
  const { body: requestBody } = request;
  return {
    url: request.url,
    atMs,
    ...(address === undefined ? {} : { address }),
    method: request.method ?? "GET",
    requestHeaders: [
      ["host", url.host],
      ["connection", "keep-alive"],
      ...Object.entries(headers),
      ...(requestBody === undefined
        ? []
        : [["content-length", String(requestBody.length)] as const]),
    ],
    ...(requestBody === undefined ? {} : { requestBody }),
    status: raw.status,
    statusText: raw.statusText,
    responseHeaders: raw.rawHeaders.length > 0 ? pairsOf(raw.rawHeaders) : listed(raw.headers),
    body: raw.body,
    ...(raw.isTruncated || raw.isSkipped
      ? { truncated: raw.isTruncated ? ("length" as const) : ("unspecified" as const) }
      : {}),
    latencyMs: raw.latencyMs,
  };
}

function pairsOf(raw: readonly Buffer[]): Array<readonly [string, string]> {
  const pairs: Array<readonly [string, string]> = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [raw[at] as Buffer, raw[at + 1] as Buffer];
    pairs.push([name.toString("latin1"), value.toString("latin1")]);
  }
  return pairs;
}

function listed(headers: RawDownload["headers"]): Array<readonly [string, string]> {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => [name, one] as const),
  );
}
