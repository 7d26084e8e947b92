/** The handler of the pool's programs: what becomes of a page and what it links to follow from its number. */
const PAGES = 400;

export function pageOf(url) {
  return Number(new URL(url).pathname.slice(1));
}

export function urlOfPage(page) {
  const number = page % PAGES;
  return `http://h${number % 7}.example/${number}`;
}

/** Up to four links, one of them no URL at times. */
export function linksOf(page) {
  const links = Array.from({ length: (page * 7) % 5 }, (_, at) =>
    urlOfPage(page * 3 + at * at + 1),
  );
  return page % 11 === 0 ? [...links, "mailto:nobody@example.org"] : links;
}

/** What a page does with its lease; also in threads of one's own (port-thread.mjs). */
export function settle(lease, push) {
  const page = pageOf(lease.url);
  const found = linksOf(page);
  switch (page % 10) {
    case 1:
      if (lease.attempt === 1) return lease.retry({ reason: "first", delayMs: 0 });
      return lease.done({ found, outcome: { status: 200, bytes: 10 } });
    case 2:
      return lease.fail("gone", { status: 404 });
    case 3:
      if (lease.deliveries === 1) return lease.release();
      return lease.done({ found });
    case 4:
      lease.redirect(urlOfPage(page + 1), { status: 301 });
      return lease.done();
    case 5:
      lease.extend(1_000);
      return lease.done({
        found: found.map((url) => ({ url, data: { from: page }, priority: 2 })),
      });
    default:
      push(found);
      return lease.done();
  }
}

export default async function visit(lease, context) {
  const page = pageOf(lease.url);
  if (page % 10 === 6) throw new Error("broken");
  if (page % 10 === 7) {
    context.push(linksOf(page));
    return; // done
  }
  settle(lease, (links) => context.push(links));
}
