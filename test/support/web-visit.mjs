/** A small web that is a function of its URLs, for tests that visit it with threads and without. */

const mixed = (text) => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};

/** Links of a page: known ones, new ones, the same twice, invalid URLs, wide ones, some too long, and many at once. */
export function linksOf(url, depth) {
  const hash = mixed(url);
  const links = [];
  const count = hash % 29 === 0 ? 300 : hash % 7;
  for (let at = 0; at < count && depth < 4; at++) {
    const page = (hash + at * 7919) % 150;
    const kind = (hash + at) % 13;
    if (kind === 0) links.push("mailto:a@b.test", "no url", "http://[/");
    else if (kind === 1) links.push(`http://w${page % 9}.test/ä/${page}?ñ=1`);
    else if (kind === 2) links.push(`http://bücher${page % 5}.test/日本/${page}`);
    else if (kind === 3) links.push(`HTTP://User@W${page % 9}.test:80/./a/../${page}#top`);
    else if (kind === 4 && at < 9) links.push(`http://w.test/${"x".repeat(2_100)}${page}`);
    else links.push(`http://w${page % 9}.test/${page}`, `http://w${page % 9}.test/${page}`);
  }
  return links;
}

/** Half of the pages fail: their records stay, complete. */
export const fails = (url) => mixed(url) % 2 === 0;

export default function visit(lease, context) {
  if (fails(lease.url)) lease.fail("kept");
  else context.push(linksOf(lease.url, lease.depth));
}
