/** The functions beside a frontier: canonical forms, fingerprints, links, seeds, presets; over seeded URLs and key policies. */
import { Duel } from "./duel.mjs";
import { urlOf } from "./operations.mjs";
import { policyOf } from "./options.mjs";
import { createRandom } from "./random.mjs";
import { Side } from "./side.mjs";
import { restore } from "./values.mjs";

const SCHEMES = [
  "http://",
  "https://",
  "HTTP://",
  "http:",
  "http:/",
  "//",
  "",
  "ftp://",
  "data:",
  "javascript:",
];
const HOSTS = [
  ...[
    "example.org",
    "EXAMPLE.org.",
    "münchen.de",
    "xn--mnchen-3ya.de",
    "a.b.co.uk",
    "127.1",
    "0x7f.1",
  ],
  ...[
    "[::1]",
    "[1:2::3:4]",
    "user:pw@h.de",
    "h.de:80",
    "h.de:443",
    "h.de:99999",
    "h..de",
    "",
    "☃.net",
  ],
  ...["faß.de", "ab_c.de", "%41.de", "日本語.jp", "a b.de", "localhost:8080", "192.168.0.256"],
];
const PATHS = [
  ...[
    "/",
    "",
    "/a/../b/./c",
    "/%7Efoo/%2f%2F",
    "/ä/ß",
    "/a b",
    "/a;x=1",
    "//a//b",
    "/..",
    "\\a\\b",
  ],
  ...["/%", "/%zz", "/😀", "/\t/\n", "/a%00b", "/index.html", "/q/", "/[x]|{y}", "/'\"<>"],
];
const QUERIES = [
  ...["", "?", "?b=2&a=1", "?a=1&a=0&b", "?utm_source=x&id=3", "?a=%20+ä", "?&&=&", "?sid=1#frag"],
  ...["#part", "#!hash", "?q=a%26b", "?a[]=2&a[]=1", "?jsessionid=9", "?\u0001", "?x=\ud800"],
];
const KEYS = [
  undefined,
  undefined,
  { profile: "w3lib" },
  { profile: "url" },
  { sortQuery: false },
  { fragment: "keep" },
  { keepParams: ["a"] },
  { keepParams: "none" },
  { dropParams: ["b", "id"] },
  { methods: "in-key" },
  { headers: ["accept"] },
  { odd: 1 },
  5,
];
const TEMPLATES = [
  ...["http://x.de/list_#.html#1#30#1", "http://x.de/[1-9]", "http://x.de/[01-12]/[1-3]"],
  ...[
    "http://x.de/",
    "http://x.de/#.html#9#1#-2",
    "http://x.de/[9-1]",
    "http://x.de/[a-c]",
    "",
    "#",
  ],
];
const PRESETS = ["webmagic", "vscrawler", "scrapy", "gopcp", "neocrawler"];

export async function functionsProgram({ packages, seed, operations, note }) {
  const random = createRandom(seed);
  const duel = new Duel(
    packages.map((pkg) => new Side(pkg)),
    seed,
  );
  note?.(duel, {});
  for (let at = 0; at < operations; at++) {
    const operation = functionOf(random);
    await duel.answer(operation, ({ pkg }) => called(pkg, operation));
  }
}

function addressOf(random) {
  if (random.once(3)) return urlOf(random);
  const text =
    random.pick(SCHEMES.slice(0, random.once(2) ? 2 : undefined)) +
    random.pick(HOSTS) +
    random.pick(PATHS) +
    random.pick(QUERIES);
  if (!random.once(6)) return text;
  // One character lost, doubled or changed.
  const place = random.below(text.length + 1);
  return (
    text.slice(0, place) +
    random.pick(["", "%", "/", "\u00ad", "é", "?"]) +
    text.slice(place + random.below(2))
  );
}

function functionOf(random) {
  const list = () => Array.from({ length: random.below(8) }, () => addressOf(random));
  const key = random.pick(KEYS);
  switch (random.below(12)) {
    case 0:
      return { do: "canonicalizeMany", args: [list(), key] };
    case 1:
    case 2:
      return {
        do: "fingerprint",
        args: [
          random.once(2)
            ? addressOf(random)
            : {
                url: addressOf(random),
                method: random.pick(["GET", "POST"]),
                body: random.pick(["", "a"]),
                key: random.pick(["k", { $: "undefined" }]),
                headers: { accept: "x" },
              },
          key,
        ],
      };
    case 3:
    case 4:
      return {
        do: "resolveLinks",
        args: [addressOf(random), [...list(), "#", " ", "../up", "?q", "javascript:x"]],
      };
    case 5:
      return {
        do: "expandSeed",
        args: [random.once(4) ? addressOf(random) : random.pick(TEMPLATES)],
      };
    case 6:
      return {
        do: "presets",
        preset: random.pick(PRESETS),
        args: [
          random.pick([
            { $: "undefined" },
            { capacity: 5 },
            { defaults: policyOf(random) },
            { domains: ["x.de"], maxDepth: 2 },
            { interval: "1h" },
          ]),
        ],
      };
    default:
      return { do: "canonicalize", args: [addressOf(random), key] };
  }
}

function called(pkg, operation) {
  const args = restore(operation.args);
  if (operation.do === "presets") return pkg.api("presets")[operation.preset](...args);
  const answer = pkg.api(operation.do)(...args);
  return operation.do === "expandSeed" ? [...answer].slice(0, 1_000) : answer;
}
