/** Handlers that push links as a page writes them. */
export default function visit(lease, context) {
  if (lease.depth > 0) return;
  context.push(["/list", "near", "?q=1", "//other.example/x", "https://a.example/abs"]);
  context.push(new URL("https://a.example/object"));
  context.push("/first", { priority: 7 });
  context.push([new URL("https://a.example/two"), { url: "/three", priority: 9 }], { priority: 5 });
  lease.done({ found: ["/found", { url: "asked", depth: 0 }] });
}
