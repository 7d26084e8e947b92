/**
 * Access control of HTTP. A page in a browser can reach this port too, also under a name of its own that resolves to it (DNS rebinding):
 * so `Host` must be an address or a name of this machine, and `Origin`, where there is one, must be this very server. What changes
 * something needs the token; on an address that others reach, everything but health does.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { isSameSecret } from "../secret.ts";

export interface Guard {
  readonly host: string;
  readonly scheme: "http" | "https";
  readonly token: string;
  /** Whether reading needs the token too. */
  readonly isStrict: boolean;
}

/** Why a request is refused; undefined: it is not. */
export function refusalOf(guard: Guard, request: IncomingMessage): 403 | 421 | undefined {
  const { host, origin } = request.headers;
  if (host === undefined || !isOwnName(guard, host)) return 421;
  if (origin !== undefined && origin !== `${guard.scheme}://${host}`) return 403;
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return 403;
  return undefined;
}

/** An address cannot be rebound; a name can, unless it is ours. */
function isOwnName({ host }: Guard, given: string): boolean {
  const name = given.replace(/:\d{1,5}$/, "");
  if (name === "localhost" || name === host) return true;
  return isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;
}

export function hasToken({ token }: Guard, request: IncomingMessage): boolean {
  return isSameSecret(request.headers.authorization ?? "", `Bearer ${token}`);
}
