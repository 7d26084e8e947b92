/**
 * What google/robotstxt and Google's documentation expect of a parser ("URL matching based on path values", "Order of precedence"), as tables.
 */
import { describe, expect, it } from "vitest";
import { parseRobots } from "../../../../src/crawl/robots/robots-rules.ts";

const at = "http://foo.bar";
const LINE_BYTES = 2083 * 8;

interface Case {
  readonly name: string;
  readonly file: string;
  readonly agent?: string;
  readonly allowed?: readonly string[];
  readonly disallowed?: readonly string[];
}

const groups = [
  ...["allow: /foo/bar/", "", "user-agent: FooBot", "disallow: /", "allow: /x/"],
  ...["user-agent: BarBot", "disallow: /", "allow: /y/", "", "", "allow: /w/"],
  ...["user-agent: BazBot", "", "user-agent: FooBot", "allow: /z/", "disallow: /"],
].join("\n");
const only = (...rules: string[]): string => ["user-agent: FooBot", ...rules].join("\n");
const but = (rule: string): string => only("disallow: /", rule);
const fish = {
  allowed: [
    ...["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html"],
    "/fish.html?id=anything",
  ],
  disallowed: ["/bar", "/Fish.asp", "/catfish", "/?id=fish"],
};
const cut = (key: string): string => `/x/${"a".repeat(LINE_BYTES - 3 - key.length + 1)}`;

const CASES: readonly Case[] = [
  { name: "an empty file", file: "", allowed: ["", "/x/y"] },
  { name: "an empty URL is the root", file: but(""), disallowed: [""] },
  { name: "an agent without a name has no group", agent: "", file: but(""), allowed: ["/x"] },
  { name: "a file that is right", file: but(""), disallowed: ["/x/y"] },
  { name: "keys that nobody knows", file: "foo: FooBot\nbar: /", allowed: ["/x/y"] },
  { name: "colons that are missing", file: "user-agent FooBot\ndisallow /", disallowed: ["/x/y"] },
  {
    name: "three words without a colon",
    file: "user-agent: FooBot\ndisallow / x",
    allowed: ["/x"],
  },
  {
    name: "groups of one name are one",
    file: groups,
    allowed: ["/x/b", "/z/d"],
    disallowed: ["/y/c", "/foo/bar/"],
  },
  {
    name: "blank lines end no group",
    agent: "BarBot",
    file: groups,
    allowed: ["/y/c", "/w/a"],
    disallowed: ["/z/d", "/foo/bar/"],
  },
  {
    name: "names in a row share their rules",
    agent: "BazBot",
    file: groups,
    allowed: ["/z/d"],
    disallowed: ["/foo/bar/"],
  },
  ...["FooBot", "BarBot"].flatMap((agent) =>
    ["Sitemap: https://foo.bar/sitemap", "Invalid-Unknown-Line: unknown", "Crawl-delay: 5"].map(
      (line) => ({
        name: `${line} ends no group for ${agent}`,
        agent,
        file: `User-agent: BarBot\n${line}\nUser-agent: *\nDisallow: /`,
        disallowed: ["/"],
      }),
    ),
  ),
  ...["USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /", "uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /"]
    .concat("user-agent: FooBot\nallow: /x/\ndisallow: /")
    .map((file) => ({ name: file, file, allowed: ["/x/y"], disallowed: ["/a/b"] })),
  ...["FOO BAR", "foo bar", "FoO bAr"].flatMap((named) =>
    ["Foo", "foo"].map((agent) => ({
      name: `${named} is ${agent} to its first blank`,
      agent,
      file: `User-Agent: ${named}\nAllow: /x/\nDisallow: /`,
      allowed: ["/x/y"],
      disallowed: ["/a/b"],
    })),
  ),
  ...(["Foo", "Foo Bar"] as const).map((agent) => ({
    name: `two words are no product: ${agent}`,
    agent,
    file: "User-Agent: *\nDisallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /",
    ...(agent === "Foo" ? { allowed: ["/x/y"] } : { disallowed: ["/x/y"] }),
  })),
  ...(["FooBot", "BarBot"] as const).map((agent) => ({
    name: `everybody's group is for those without one: ${agent}`,
    agent,
    file: "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /",
    ...(agent === "BarBot" ? { allowed: ["/x/y"] } : { disallowed: ["/x/y"] }),
  })),
  {
    name: "no group at all",
    agent: "QuxBot",
    file: "user-agent: FooBot\nallow: /\nuser-agent: BarBot\ndisallow: /",
    allowed: ["/x/y"],
  },
  {
    name: "a star and more words",
    agent: "X",
    file: "user-agent: * all\ndisallow: /",
    disallowed: ["/"],
  },
  { name: "case of a path", file: only("disallow: /x/"), allowed: ["/X/"], disallowed: ["/x/y"] },
  {
    name: "the longest decides",
    file: only("disallow: /x/page.html", "allow: /x/"),
    allowed: ["/x/"],
    disallowed: ["/x/page.html"],
  },
  {
    name: "the longest decides, whichever it is",
    file: only("allow: /x/page.html", "disallow: /x/"),
    allowed: ["/x/page.html"],
    disallowed: ["/x/"],
  },
  { name: "empty rules", file: only("disallow: ", "allow: "), allowed: ["/x/page.html"] },
  ...["/", "/x/page.html"].map((rule) => ({
    name: `Allow wins a draw: ${rule}`,
    file: only(`disallow: ${rule}`, `allow: ${rule}`),
    allowed: ["/x/page.html"],
  })),
  {
    name: "a slash more",
    file: only("disallow: /x", "allow: /x/"),
    allowed: ["/x/"],
    disallowed: ["/x"],
  },
  {
    name: "stars count as a letter",
    file: only("allow: /page", "disallow: /*.html"),
    allowed: ["/page"],
    disallowed: ["/page.html"],
  },
  {
    name: "a longer prefix wins from a star",
    file: only("allow: /x/page.", "disallow: /*.html"),
    allowed: ["/x/page.html"],
    disallowed: ["/x/y.html"],
  },
  {
    name: "an own group replaces everybody's",
    file: "User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/",
    allowed: ["/x/page"],
    disallowed: ["/y/page"],
  },
  {
    name: "a URL in a query",
    file: but("Allow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par"),
    allowed: ["/foo/bar?qux=taz&baz=http://foo.bar?tar&par"],
  },
  ...["/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"].map((rule) => ({
    name: `letters beyond ASCII: ${rule}`,
    file: but(`Allow: ${rule}`),
    allowed: ["/foo/bar/%E3%83%84"],
    disallowed: ["/foo/bar/ツ"],
  })),
  {
    name: "letters that need no octets, in an Allow",
    file: but("Allow: /foo/bar/%62%61%7A"),
    allowed: ["/foo/bar/%62%61%7A"],
    disallowed: ["/foo/bar/baz"],
  },
  {
    name: "a star inside",
    file: only("Disallow: /foo/bar/quz", "Allow: /foo/*/qux"),
    allowed: ["/foo/quz", "/foo//quz", "/foo/bax/quz"],
    disallowed: ["/foo/bar/quz"],
  },
  {
    name: "an end",
    file: only("Disallow: /foo/bar$", "Allow: /foo/bar/qux"),
    allowed: ["/foo/bar/qux", "/foo/bar/", "/foo/bar/baz"],
    disallowed: ["/foo/bar"],
  },
  {
    name: "comments",
    file: only("# Disallow: /", "Disallow: /foo/quz#qux", "Allow: /"),
    allowed: ["/foo/bar"],
    disallowed: ["/foo/quz"],
  },
  {
    name: "an index page stands for its folder",
    file: "User-Agent: *\nAllow: /allowed-slash/index.html\nDisallow: /",
    allowed: ["/allowed-slash/", "/allowed-slash/index.html"],
    disallowed: ["/allowed-slash/index.htm", "/anyother-url"],
  },
  {
    name: "a long Disallow is cut",
    file: only(`disallow: ${cut("disallow: ")}/qux`),
    allowed: ["/fux"],
    disallowed: [`${cut("disallow: ")}/fux`],
  },
  {
    name: "a long Allow is cut",
    file: but(`allow: ${cut("allow: ")}/qux`),
    allowed: [`${cut("allow: ")}/qux`, `${cut("allow: ")}/fux`],
    disallowed: ["/"],
  },
  { name: "/fish", file: but("allow: /fish"), ...fish },
  { name: "/fish*", file: but("allow: /fish*"), ...fish },
  {
    name: "/fish/",
    file: but("allow: /fish/"),
    allowed: [
      ...["/fish/", "/fish/salmon", "/fish/?salmon", "/fish/salmon.html"],
      "/fish/?id=anything",
    ],
    disallowed: ["/bar", "/fish", "/fish.html", "/Fish/Salmon.html"],
  },
  {
    name: "/*.php",
    file: but("allow: /*.php"),
    allowed: [
      ...["/filename.php", "/folder/filename.php", "/folder/filename.php?parameters"],
      ...["//folder/any.php.file.html", "/filename.php/", "/index?f=filename.php/"],
    ],
    disallowed: ["/bar", "/php/", "/index?php", "/windows.PHP"],
  },
  {
    name: "/*.php$",
    file: but("allow: /*.php$"),
    allowed: ["/filename.php", "/folder/filename.php"],
    disallowed: [
      ...["/bar", "/filename.php?parameters", "/filename.php/", "/filename.php5", "/php/"],
      ...["/filename?php", "/aaaphpaaa", "//windows.PHP"],
    ],
  },
  {
    name: "/fish*.php",
    file: but("allow: /fish*.php"),
    allowed: ["/fish.php", "/fishheads/catfish.php?parameters"],
    disallowed: ["/bar", "/Fish.PHP"],
  },
  { name: "precedence of /p", file: but("allow: /p"), allowed: ["/page"] },
  {
    name: "precedence of alikes",
    file: only("allow: /folder", "disallow: /folder"),
    allowed: ["/folder/page"],
  },
  {
    name: "precedence of a star",
    file: only("allow: /page", "disallow: /*.htm"),
    disallowed: ["/page.htm"],
  },
  {
    name: "precedence of an end",
    file: but("allow: /$"),
    allowed: ["/"],
    disallowed: ["/page.html"],
  },
];

describe("robots.txt as Google's parser reads it", () => {
  it.each(CASES)("$name", ({ file, agent = "FooBot", allowed = [], disallowed = [] }) => {
    const { isAllowed } = parseRobots(file);
    const of = (path: string): string => (path === "" ? "" : at + path);
    const isTaken = (path: string): boolean => isAllowed(agent, of(path));
    expect([...allowed, ...disallowed].filter(isTaken)).toEqual(allowed);
  });

  it.each([
    ["", "/"],
    ["http://www.example.com", "/"],
    ["http://www.example.com/", "/"],
    ["http://www.example.com/a", "/a"],
    ["http://www.example.com/a/", "/a/"],
    ["http://www.example.com/a/b?c=http://d.e/", "/a/b?c=http://d.e/"],
    ["http://www.example.com/a/b?c=d&e=f#fragment", "/a/b?c=d&e=f"],
    ["http://www.example.com#a/b", "/"],
    ["example.com", "/"],
    ["example.com/", "/"],
    ["example.com/a", "/a"],
    ["example.com/a/", "/a/"],
    ["example.com/a/b?c=d&e=f#fragment", "/a/b?c=d&e=f"],
    ["a", "/"],
    ["a/", "/"],
    ["/a", "/a"],
    ["a/b", "/b"],
    ["example.com?a", "/?a"],
    ["example.com/a;b#c", "/a;b"],
    ["//a/b/c", "/b/c"],
  ])("the path of %j is %s", (url, path) => {
    const { isAllowed } = parseRobots(`User-agent: a\nDisallow: /\nAllow: ${path}$`);
    expect(isAllowed("a", url)).toBe(true);
    const other = parseRobots(`User-agent: a\nDisallow: ${path}$`);
    expect(other.isAllowed("a", url)).toBe(false);
  });

  it.each(["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "Disallow-all"])(
    "%s is a Disallow, and a user agent may be written in three ways",
    (key) => {
      for (const agent of ["user-agent", "useragent", "user agent"])
        expect(parseRobots(`${agent}: a\n${key}: /`).isAllowed("a", at)).toBe(false);
    },
  );
});
