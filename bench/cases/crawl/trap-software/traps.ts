/**
 * Traps after what real software links to, by the parameters and paths it uses.
 *
 *   versions   wiki · forge                        shops     layered · compared · currency
 *   forums     posting · reply · destination       search    discovery · suggestions
 *   servers    pathInfo · meant · clicks           spaces    those of `space-traps.ts`
 *
 * Drawn without sight of the recognition, and not run with it while they were written.
 */
import type { Random } from "../../../../src/base/random.ts";
import {
  links,
  type Site,
  some,
  type TrapFamily,
  upTo,
  withQuery,
  without,
} from "../trap-families/family.ts";
import { letters, link, numbersTo, pick, token } from "../trap-shapes/shape.ts";
import { fixed, named, page } from "./lists.ts";
import { SPACE_TRAPS } from "./space-traps.ts";

/** This path if it is that of a good page, or the path of another one. */
function goodNear({ goodAt, goodPaths }: Site, at: Random, path: string): string {
  return goodAt(path) === undefined ? pick(at, goodPaths()) : path;
}

const urlOf = (path: string): URL => new URL(path, "http://site.example");

/** A wiki: old revisions, differences between two of them, histories from a time on. */
const wiki: TrapFamily = ({ random, words }) => {
  const root = `/${pick(random, ["w/index.php", "mediawiki/index.php", "index.php5"])}`;
  const titles = numbersTo(upTo(random, 15, 60)).map((n) =>
    words(`wiki ${n}`, 2).replace(" ", "_"),
  );
  const newest = upTo(random, 40_000, 900_000);
  const actions = ["history", "edit", "info", "raw"];
  return {
    entries: (at) => [
      withQuery(root, { title: pick(at, titles), action: pick(at, actions) }),
      withQuery(root, { title: pick(at, titles), oldid: 1 + at.below(newest) }),
    ],
    answer(url) {
      if (url.pathname !== root) return undefined;
      const [title, at] = [url.searchParams.get("title") ?? "Main_Page", fixed(url.href)];
      const of = (values: Record<string, string | number>): string =>
        withQuery(root, { title, ...values });
      const revisions = numbersTo(5).map(() => 1 + at.below(newest));
      const text = words(`text of ${title}`, 70);
      const tabs = links(
        actions.map((action) => of({ action })),
        "tab",
      );
      if (url.searchParams.get("action") === "history") {
        const offset = `${2_005 + at.below(20)}1${100_000_000 + at.below(99_999_999)}`;
        const rows = revisions.map((oldid) =>
          link(of({ oldid }), words(`editor ${oldid % 90}`, 1)),
        );
        const diffs = links(
          revisions.map((oldid) => of({ diff: "prev", oldid })),
          "prev",
        );
        const older = of({ offset, limit: 50, action: "history" });
        return page(`${title}: history`, tabs + rows.join("") + diffs, [older], "older");
      }
      if (url.searchParams.has("action")) return `<h1>${title}</h1>${tabs}<pre>${text}</pre>`;
      const [oldid = 1, diff = 1] = revisions;
      const editor = words(`editor ${at.below(90)}`, 1);
      const old = `<p>Revision ${url.searchParams.get("oldid")} by ${editor}</p>`;
      const near = [of({ oldid }), of({ oldid, diff }), of({ oldid, printable: "yes" })];
      return page(title, `${tabs}${old}<p>${text}</p>`, near, "revision");
    },
  };
};

/** A forge: the tree, blame and history of each file at each commit, and comparisons of commits. */
const forge: TrapFamily = ({ random, words }) => {
  const root = `/${letters(random, 5)}/${letters(random, 6)}`;
  const files = numbersTo(upTo(random, 8, 40)).map((n) => `src/${letters(random, 4)}/${n}.go`);
  const views = ["src/commit", "blame/commit", "commits/commit", "raw/commit"];
  const urlAt = (view: string, hash: string, file: string): string =>
    `${root}/${view}/${hash}/${file}`;
  return {
    entries: (at) => [urlAt(pick(at, views), token(at, 40, 16), pick(at, files))],
    answer({ pathname }) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const [hash = "0", at] = [/[0-9a-f]{40}/.exec(pathname)?.[0], fixed(pathname)];
      const [file, other] = [pathname.split(`${hash}/`)[1] ?? pick(at, files), token(at, 40, 16)];
      const on = [
        ...views.map((view) => urlAt(view, hash, file)),
        urlAt(pick(at, views), other, file),
      ];
      const tree = numbersTo(4).map(() => urlAt("src/commit", hash, pick(at, files)));
      const compare = `${root}/compare/${other}...${hash}`;
      const code = numbersTo(25).map(
        (line) => `${line + 1} ${words(`line ${line} of ${file}`, 4)}`,
      );
      const text = `<p>${hash.slice(0, 10)}</p><pre>${code.join("\n")}</pre>`;
      return page(file, text, [...on, ...tree, compare]);
    },
  };
};

/** Forms of a forum, each with a new session: quote, reply, report, mail. All ask for a login. */
const posting: TrapFamily = ({ random }) => {
  const root = `/${pick(random, ["forum", "phpBB3", "bb"])}`;
  const forms = [
    "posting.php?mode=quote&f=2&p=",
    "posting.php?mode=reply&f=2&t=",
    "report.php?f=2&p=",
    "memberlist.php?mode=email&u=",
  ];
  const urlAt = (at: Random): string =>
    `${root}/${pick(at, forms)}${1 + at.below(9_000)}&sid=${token(at, 32, 16)}`;
  return {
    entries: () => numbersTo(3).map(() => urlAt(random)),
    answer({ pathname }, at) {
      if (!/(posting|report|memberlist|ucp)\.php$/.test(pathname)) return undefined;
      const login = ["login", "register", "sendpassword"].map(
        (mode) => `${root}/ucp.php?mode=${mode}&sid=${token(at, 32, 16)}`,
      );
      const text = "<p>The board requires you to be registered and logged in</p>";
      return page("Login", text, [...login, urlAt(at)]);
    },
  };
};

/** Layered navigation: each filter, order and length of a list is a parameter that stays on. */
const layered: TrapFamily = ({ random, words }) => {
  const root = `/${pick(random, ["women/tops", "shop/shoes", "lamps"])}.html`;
  const filters = drawnNames(
    random,
    ["color", "size", "price", "brand", "material", "fit"],
    upTo(random, 3, 6),
  );
  const choices: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries(filters.map((name) => [name, numbersTo(6).map((n) => 40 + n)])),
    ...{ product_list_order: ["price", "name", "position"], product_list_dir: ["asc", "desc"] },
    ...{ product_list_limit: ["12", "24", "36"], p: ["1", "2", "3", "4"] },
  };
  const count = upTo(random, 30, 90);
  return {
    entries: (at) => [withQuery(root, { [pick(at, filters)]: 40 + at.below(6) })],
    answer(url) {
      if (url.pathname !== root) return undefined;
      const at = fixed(url.search.split(/[?&]/).sort().join("&"));
      const toggled = Object.entries(choices).map(([name, values]) => {
        const kept = without(url, [name]);
        return url.searchParams.has(name) && at.below(3) === 0
          ? kept
          : withQuery(kept, { [name]: pick(at, values) });
      });
      const found = numbersTo(Math.max(0, 12 - 2 * url.searchParams.size)).map(() =>
        words(`item ${at.below(count)}`, 3),
      );
      const items = found.map((item) => `<p>${item}</p>`).join("");
      return page("Items", `<p>${found.length} found</p>${items}`, toggled);
    },
  };
};

function drawnNames(random: Random, from: readonly string[], count: number): string[] {
  const first = random.below(from.length);
  return numbersTo(Math.min(count, from.length)).map((n) => from[(first + n) % from.length] ?? "");
}

/** Buttons of a shop, with the page that they stand on encoded in their path. */
const compared: TrapFamily = (site) => {
  const root = `/${pick(site.random, ["catalog", "shop", "store"])}`;
  const doings = ["product_compare/add/product", "wishlist/add/product", "cart/add/product"];
  const encoded = (path: string): string => Buffer.from(path).toString("base64url");
  const urlAt = (at: Random, path: string): string =>
    `${root}/${pick(at, doings)}/${1 + at.below(4_000)}/uenc/` +
    `${encoded(path)}/form_key/${token(at, 16)}/`;
  return {
    entries: (at, path) => numbersTo(2).map(() => urlAt(at, path.slice(0, 60))),
    answer({ pathname }, at) {
      if (!pathname.startsWith(`${root}/`) || !/uenc|referer/.test(pathname)) return undefined;
      const login = `${root}/customer/account/login/referer/${encoded(pathname.slice(-90))}/`;
      if (/wishlist/.test(pathname)) return { status: 302, location: login };
      const name = pathname.includes("login") ? "Customer login" : "Compare products";
      const near = some(site, at, 2).map((path) => urlAt(at, path));
      return page(name, `<p>You have no items</p>`, [...near, login]);
    },
  };
};

/** A shop that adds the chosen currency and language to whatever the URL has already. */
const currency: TrapFamily = (site) => {
  const name = pick(site.random, ["cur", "currency", "setCurrencyId"]);
  const values = ["eur", "usd", "gbp", "chf", "sek", "pln"];
  const grown = (at: Random, path: string): string =>
    `${path}${path.includes("?") ? "&" : "?"}${name}=${pick(at, values)}`;
  return {
    entries: (at, path) => [
      grown(at, path === "/" ? pick(at, site.goodPaths()) : path.slice(0, 400)),
    ],
    answer(url) {
      if (!url.searchParams.has(name)) return undefined;
      const text = site.goodAt(without(url, [name]));
      const path = (url.pathname + url.search).slice(0, 1_500);
      return (
        text &&
        text +
          links(
            values.map((value) => `${path}&${name}=${value}`),
            "currency",
          )
      );
    },
  };
};

/** Scripts under the name of another: a relative link goes on from what is in the path already. */
const pathInfo: TrapFamily = ({ random, words }) => {
  const pages = numbersTo(upTo(random, 3, 8)).map((n) => words(`info ${n}`, 1));
  const root = `/${pick(random, ["index.php", "default.asp", "app.cgi"])}`;
  return {
    entries: (at) => [`${root}/${pick(at, pages)}`],
    answer({ pathname }) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const name = pathname.split("/").pop() ?? "";
      const hrefs = pages.map((each) => `${root.slice(1)}/${each}`);
      const text = `<p>${words(`info text ${name}`, 35)}</p>`;
      return page(name, text + named(hrefs, (n) => pages[n] ?? ""));
    },
  };
};

/** A repository of papers: filters that add up, each with a number in its name. */
const discovery: TrapFamily = ({ random, words }) => {
  const root = `/${pick(random, ["xmlui", "jspui", "handle/10"])}/discover`;
  const kinds = ["author", "subject", "dateIssued", "has_content"];
  const anyValue = (at: Random): string => words(`value ${at.below(400)}`, 1);
  const more = (url: URL, at: Random): string => {
    const n =
      [...url.searchParams.keys()].filter((name) => name.startsWith("filtertype_")).length % 12;
    const [type, mode] = [`filtertype_${n}`, `filter_relational_operator_${n}`];
    const kept = without(url, [type, mode, `filter_${n}`]);
    return withQuery(kept, {
      [type]: pick(at, kinds),
      [mode]: "equals",
      [`filter_${n}`]: anyValue(at),
    });
  };
  return {
    entries: (at) => [more(urlOf(root), at)],
    answer(url) {
      if (url.pathname !== root) return undefined;
      const at = fixed(url.href);
      const filters = numbersTo(6).map(() => more(url, at));
      const lists = [10, 20, 40].map((rpp) =>
        withQuery(without(url, ["rpp", "sort_by"]), { rpp, sort_by: "score" }),
      );
      const papers = numbersTo(at.below(4)).map(
        () => `<p>${words(`paper ${at.below(60)}`, 6)}</p>`,
      );
      const text = `<p>Now showing items 1-${papers.length}</p>${papers.join("")}`;
      return page("Search", text, [...filters, ...lists]);
    },
  };
};

/** Pages made for searches: others are related, with a word more or another one. */
const suggestions: TrapFamily = (site) => {
  const root = `/${pick(site.random, ["find", "s", "popular"])}`;
  const vocabulary = numbersTo(upTo(site.random, 40, 300)).map((n) =>
    site.words(`searched ${n}`, 1),
  );
  const urlAt = (words: readonly string[]): string => `${root}/${words.join("-")}.html`;
  return {
    entries: (at) => [urlAt([pick(at, vocabulary), pick(at, vocabulary)])],
    answer({ pathname }) {
      if (!pathname.startsWith(`${root}/`) || !pathname.endsWith(".html")) return undefined;
      const [at, words] = [fixed(pathname), pathname.slice(root.length + 1, -5).split("-")];
      const related = numbersTo(7).map((n) =>
        urlAt([...words.slice(n % 2 === 0 && words.length < 4 ? 0 : 1), pick(at, vocabulary)]),
      );
      const results = some(site, at, 4);
      const text = `<p>Results for ${words.join(" ")}</p>${links(results)}`;
      return page(words.join(" "), text, related, "related");
    },
  };
};

/** A good page once more: to reply to a comment, to share, to like with a new nonce, to print. */
const reply: TrapFamily = (site) => {
  const names = ["replytocom", "share", "nb", "like_comment", "_wpnonce", "tmpl", "print"];
  const forms: ReadonlyArray<(at: Random) => Readonly<Record<string, string | number>>> = [
    (at) => ({ replytocom: 1 + at.below(40_000) }),
    (at) => ({ share: pick(at, ["twitter", "facebook", "email", "reddit"]), nb: 1 }),
    (at) => ({ like_comment: 1 + at.below(9_000), _wpnonce: token(at, 10, 16) }),
    (at) => ({ tmpl: "component", print: 1 + at.below(90) }),
  ];
  const count = upTo(site.random, 2, 5);
  return {
    entries(at, path) {
      const page = goodNear(site, at, without(urlOf(path), names));
      return numbersTo(count).map(() => withQuery(page, pick(at, forms)(at)));
    },
    answer(url, at) {
      if (!names.some((name) => url.searchParams.has(name))) return undefined;
      const page = without(url, names);
      const text = site.goodAt(page);
      return (
        text &&
        text +
          links(
            numbersTo(count).map(() => withQuery(page, pick(at, forms)(at))),
            "reply",
          )
      );
    },
  };
};

/** Login, registration and forms for comments, each with the page to come back to. */
const destination: TrapFamily = (site) => {
  const { random, words } = site;
  const [prefix, longest] = [random.below(2) === 0 ? "" : "/en", upTo(random, 100, 600)];
  const forms = ["login", "register", "password"].map((name) => `${prefix}/user/${name}`);
  const urlAt = (form: string, path: string): string =>
    `${form}?destination=${encodeURIComponent(path).slice(-longest)}`;
  return {
    entries: (at, path) => [
      urlAt(pick(at, forms), path),
      `${prefix}/comment/reply/${at.below(9_000)}/${at.below(90_000)}`,
    ],
    answer({ pathname, search }, at) {
      if (pathname.startsWith(`${prefix}/comment/reply/`))
        return { status: 302, location: urlAt(forms[0] ?? "", pathname) };
      if (!forms.includes(pathname)) return undefined;
      const next = forms.map((form) => urlAt(form, pathname + search));
      const node = `${prefix}/comment/reply/${at.below(9_000)}/${at.below(90_000)}`;
      return `<h1>User account</h1><p>${words(`form ${pathname}`, 8)}</p>${links([...next, node])}`;
    },
  };
};

/** Any name that a page could have had: it is not here, and others like it may be. */
const meant: TrapFamily = ({ random, words }) => {
  const root = `/${pick(random, ["archive", "old", "docs"])}-${letters(random, 2)}`;
  const hasTitle = random.below(2) === 0;
  const urlAt = (at: Random): string =>
    `${root}/${words(`m ${at.below(900_000)}`, upTo(at, 1, 3)).replaceAll(" ", "_")}.htm`;
  return {
    entries: (at) => [urlAt(at)],
    answer({ pathname }) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const [at, name] = [fixed(pathname), pathname.slice(root.length + 1, -4)];
      const text = "<p>This page is not here any more. Did you mean one of these?</p>";
      const others = numbersTo(6).map(() => urlAt(at));
      return page(hasTitle ? name : "Oops", text, others);
    },
  };
};

/** Clicks that are counted, with a number by chance: they redirect to a page. */
const clicks: TrapFamily = (site) => {
  const root = `/${pick(site.random, ["openx/www/delivery/ck.php", "out.php", "goto/post"])}`;
  const zones = upTo(site.random, 2, 12);
  return {
    entries: () =>
      numbersTo(2).map(() => {
        const zone = 1 + site.random.below(zones);
        return withQuery(root, {
          bannerid: zone * 7,
          zoneid: zone,
          cb: token(site.random, 10, 16),
        });
      }),
    answer({ pathname }, at) {
      if (pathname !== root) return undefined;
      return { status: 302, location: at.below(3) === 0 ? "/" : pick(at, site.goodPaths()) };
    },
  };
};

export const SOFTWARE_TRAPS: Readonly<Record<string, TrapFamily>> = {
  ...{ wiki, forge, layered, compared, currency, posting, reply, destination },
  ...{ discovery, suggestions, pathInfo, meant, clicks, ...SPACE_TRAPS },
};
