/**
 * The connector: the only place that opens sockets. It resolves the address, checks it, dials, and remembers the address of each origin.
 *
 *   origin ─▶ dial? ─▶ literal: guard ─┐
 *                  └─▶ lookup ─▶ guard on every answer ─▶ socket ─▶ guard on its remote address
 *
 *   I1  The guard checks the same list that the socket uses: there is no second look-up that could return another answer.
 */
import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { buildConnector } from "undici";
import { isPublicAddress } from "./address-guard.ts";
import { DownloadError } from "./download-error.ts";
import { watchHttp2 } from "./http2-session.ts";
import { dropContinue } from "./interim-responses.ts";

/** Resolves names to addresses, in the form of `node:dns`. */
export type Lookup = (
  hostname: string,
  options: { all: true; family?: number | undefined },
  callback: (cause: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

interface ConnectOptions {
  readonly allowPrivate: boolean;
  readonly connectMs: number;
  /** Takes the place of the system's resolver. */
  readonly lookup?: Lookup | undefined;
  /** Dials this instead of the origin: for a synthetic web, or a gateway. The guard checks it too. */
  readonly dial?: { readonly address: string; readonly port: number } | undefined;
  readonly allowH2: boolean;
  /** An idle connection of HTTP/2 is closed after so many milliseconds. */
  readonly keepAliveMs: number;
  /** Certificates to trust, in place of the system's. */
  readonly ca?: string | undefined;
  /** Makes what opens sockets; tests replace it, so that they dial nothing. */
  readonly dialler?: typeof buildConnector;
}

/** Origins whose address is remembered. */
const ADDRESS_COUNT_MAX = 10_000;

export function createConnector(options: ConnectOptions) {
  const addresses = new Map<string, string>();
  const isAllowed = (address: string): boolean => options.allowPrivate || isPublicAddress(address);
  const resolve = (options.lookup ?? systemLookup) as Lookup;
  const lookup = (
    hostname: string,
    asked: { all?: boolean; family?: number },
    callback: Answer,
  ): void => {
    resolve(hostname, { all: true, family: asked.family }, (cause, found) => {
      if (cause !== null) return callback(cause, []);
      const good = found.filter(({ address }) => isAllowed(address));
      const [first] = good;
      if (first === undefined) return callback(forbidden(hostname, found[0]?.address), []);
      if (asked.all) callback(null, good);
      else callback(null, first.address, first.family);
    });
  };
  const base = (options.dialler ?? buildConnector)({
    timeout: options.connectMs,
    allowH2: options.allowH2,
    lookup: lookup as never,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  const connect: buildConnector.connector = (target, callback) => {
    const { dial } = options;
    const hostname = dial?.address ?? target.hostname;
    const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    if (isIP(bare) !== 0 && !isAllowed(bare)) {
      queueMicrotask(() => callback(forbidden(target.hostname, bare), null));
      return;
    }
    const aim =
      dial === undefined ? target : { ...target, hostname: bare, port: String(dial.port) };
    base(aim, (cause, socket) => {
      if (cause !== null) return callback(cause, null);
      const address = socket.remoteAddress;
      if (address === undefined || !isAllowed(address)) {
        socket.destroy();
        return callback(forbidden(target.hostname, address), null);
      }
      if (addresses.size >= ADDRESS_COUNT_MAX)
        addresses.delete(addresses.keys().next().value as string);
      addresses.set(target.host ?? target.hostname, address);
      dropContinue(socket);
      watchHttp2(socket, options.keepAliveMs);
      callback(null, socket);
    });
  };
  return {
    connect,
    /** What a host (with its port) was dialled at last. */
    addressOf: (host: string): string | undefined => addresses.get(host),
  };
}

type Answer = (cause: Error | null, address: string | LookupAddress[], family?: number) => void;

function forbidden(hostname: string, address: string | undefined): DownloadError {
  const what = address === undefined ? "no address" : address;
  return new DownloadError(
    "address",
    `${hostname}: ${what} (expected: a public address; allowPrivate permits others)`,
  );
}
