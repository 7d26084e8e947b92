/** The host of a URL, from its text alone, so that the owner and its workers agree. */

/**
 * Host with port of a URL that a lease carries: the part after the scheme and any user info, before path, query or fragment. A key of
 * profile w3lib may contain the scheme's default port, which is removed.
 */
export function hostOfUrl(url: string): string {
  const start = url.indexOf("//") + 2;
  const rest = url.slice(start).search(/[/?#]/);
  const authority = rest < 0 ? url.slice(start) : url.slice(start, start + rest);
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const port = url.startsWith("https:") ? ":443" : ":80";
  return host.endsWith(port) ? host.slice(0, -port.length) : host;
}
