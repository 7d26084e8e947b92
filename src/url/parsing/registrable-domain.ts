/**
 * The registrable domain of a host: its public suffix plus one label, by the Public Suffix List with its private section, as in the URL
 * Standard (`alice.github.io` is a domain of its own).
 *
 *   a.b.example.co.uk:8443 ─▶ example.co.uk     ports are ignored
 *   127.0.0.1, [::1]       ─▶ itself            an address has no domain
 *   a.intra.corp           ─▶ intra.corp        unknown suffix: the last label, the list's default rule
 *   localhost              ─▶ itself            one label alone
 *   co.uk                  ─▶ itself            a suffix alone
 */
import { getDomain } from "tldts";
import { endsInNumber } from "./idna-host.ts";

const TLDTS_OPTIONS = {
  allowPrivateDomains: true,
  // Hosts were already parsed; on the web, names with underscores and long labels are hosts.
  validateHostname: false,
  extractHostname: false,
};

/** The registrable domain of a serialised host, with or without a port. Never throws. */
export function registrableDomain(host: string): string {
  if (host.startsWith("[")) return host.slice(0, host.indexOf("]") + 1) || host;
  const colon = host.indexOf(":");
  const hostname = colon < 0 ? host : host.slice(0, colon);
  if (endsInNumber(hostname)) return hostname;
  const dotless = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return getDomain(dotless, TLDTS_OPTIONS) ?? hostname;
}
