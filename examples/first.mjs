import { openFrontier } from "outrider";

const frontier = await openFrontier();
frontier.pushMany(["https://example.org/", "https://EXAMPLE.org:443/#top"]); // one page, told twice

for (let lease = frontier.poll(); lease; lease = frontier.poll()) {
  console.log(lease.depth, lease.url);
  const found = lease.depth < 2 ? [`${lease.url}next/`, "https://example.org/"] : [];
  lease.done({ found });
}

const { accepted, duplicate, done } = frontier.report();
console.log({ accepted, duplicate, done });
await frontier.close();
