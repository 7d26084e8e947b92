/**
 * Good pages that look much like traps: each of them is worth a visit.
 *
 *   articles   folders of texts that link to others      listing    pages of a list, and its items by number in the query
 *   archive    a blog by year, month and day             docs       a tree of folders with a menu, short pages among long ones
 *   forum      topics in pages, in the query             wiki       words as names, links in all directions
 *   gallery    pictures with a caption, one after another   reference   entries of a few words within one frame
 *   agenda     months that hold events, each with a page of its own
 */
import type { Random } from "../../../../src/base/random.ts";
import { dayText, DAY_MS, letters, link, numbersTo, pageOf, pick, type Shape } from "./shape.ts";

const [CHILDREN, PER_LIST, PER_TOPIC] = [6, 12, 8];

function upTo(random: Random, least: number, most: number): number {
  return least + random.below(most - least + 1);
}

const articles: Shape = {
  name: "articles",
  make({ random, words, size }) {
    const folders = numbersTo(upTo(random, 3, 9)).map(() => letters(random, 7));
    const end = pick(random, ["", ".html", "/"]);
    const good = numbersTo(size).map((n) => `/${folders[n % folders.length]}/article-${n}${end}`);
    const numberOf = new Map(good.map((path, n) => [path, n]));
    const longest = upTo(random, 60, 400);
    const others = numbersTo(size).map(() => [random.below(size), random.below(size)]);
    return {
      good,
      entries: () => [good[0] ?? ""],
      page({ pathname, search }) {
        const n = search === "" ? numberOf.get(pathname) : undefined;
        if (n === undefined) return undefined;
        const next = numbersTo(CHILDREN)
          .map((child) => CHILDREN * n + child + 1)
          .filter((child) => child < size);
        const all = [...next, ...(others[n] ?? [])].map((to) => link(good[to] ?? ""));
        const text = words(`article ${n}`, 40 + ((n * 7_919) % longest));
        return pageOf(words(`title ${n}`, 4), text, ...all);
      },
    };
  },
};

const listing: Shape = {
  name: "listing",
  make({ random, words, size }) {
    const folder = pick(random, ["/shop", "/catalogue", "/products", "/items"]);
    const [page, id] = [pick(random, ["page", "p", "start"]), pick(random, ["id", "sku", "item"])];
    const items = Math.ceil((size * PER_LIST) / (PER_LIST + 1));
    const lists = Math.ceil(items / PER_LIST);
    const listAt = (n: number): string => (n === 0 ? `${folder}/` : `${folder}/?${page}=${n + 1}`);
    const itemAt = (n: number): string => `${folder}/show?${id}=${n * 3 + 100}`;
    const menu = words(`menu of ${folder}`, 30);
    const good = [...numbersTo(lists).map(listAt), ...numbersTo(items).map(itemAt)];
    const known = new Set(good);
    const near = (n: number): number[] => [n + 1, n - 1].filter((to) => to >= 0 && to < lists);
    return {
      good,
      entries: () => [listAt(0)],
      page({ pathname, search, searchParams }) {
        if (!known.has(pathname + search)) return undefined;
        if (pathname.endsWith("/show")) {
          const n = (Number(searchParams.get(id)) - 100) / 3;
          const alike = link(itemAt((n * 31 + 7) % items), "see as well");
          return pageOf(words(`name ${n}`, 3), menu, words(`item ${n}`, 40), alike);
        }
        const n = Number(searchParams.get(page) ?? 1) - 1;
        const shown = numbersTo(PER_LIST)
          .map((at) => n * PER_LIST + at)
          .filter((item) => item < items)
          .map((item) => link(itemAt(item), words(`name ${item}`, 3)));
        return pageOf(`Page ${n + 1}`, menu, ...shown, ...near(n).map((to) => link(listAt(to))));
      },
    };
  },
};

const archive: Shape = {
  name: "archive",
  make({ random, words, size }) {
    const folder = pick(random, ["", "/blog", "/news"]);
    const first = Date.UTC(upTo(random, 2_012, 2_019), random.below(12), 3);
    const dates = numbersTo(size).map((n) => dayText(first + n * 5 * DAY_MS).split("-"));
    const posts = dates.map((date, n) => `${folder}/${date.join("/")}/${letters(random, 8)}-${n}`);
    const months = [...new Set(dates.map(([year, month]) => `${folder}/${year}/${month}/`))];
    const good = [...posts, ...months];
    return {
      good,
      entries: () => [months[0] ?? "", months.at(-1) ?? ""],
      page({ pathname, search }) {
        if (search !== "") return undefined;
        const month = months.indexOf(pathname);
        if (month >= 0) {
          const near = [months[month - 1], months[month + 1]].filter((to) => to !== undefined);
          const within = posts.filter((path) => path.startsWith(pathname));
          return pageOf(`Archive ${pathname}`, ...[...within, ...near].map((to) => link(to)));
        }
        const n = posts.indexOf(pathname);
        if (n < 0) return undefined;
        const near = [posts[n - 1], posts[n + 1]].filter((to) => to !== undefined);
        return pageOf(
          words(`post ${n}`, 5),
          words(`text ${n}`, 120),
          ...near.map((to) => link(to)),
        );
      },
    };
  },
};

const docs: Shape = {
  name: "docs",
  make({ random, words, size }) {
    const root = pick(random, ["/docs", "/manual", "/guide/en"]);
    const folders = numbersTo(size).map(() => letters(random, 6));
    const pathAt = (n: number): string =>
      n === 0 ? `${root}/` : `${pathAt(Math.floor((n - 1) / 5))}${folders[n]}/`;
    const good = numbersTo(size).map(pathAt);
    const numberOf = new Map(good.map((path, n) => [path, n]));
    const menu = words(`menu of ${root}`, 60);
    return {
      good,
      entries: () => [`${root}/`],
      page({ pathname, search }) {
        const n = search === "" ? numberOf.get(pathname) : undefined;
        if (n === undefined) return undefined;
        const below = numbersTo(5)
          .map((child) => 5 * n + child + 1)
          .filter((child) => child < size)
          .map((child) => link(`${folders[child]}/`, words(`topic ${child}`, 2)));
        const text = words(`topic ${n}`, n % 3 === 0 ? 25 : 150);
        return pageOf(words(`topic ${n}`, 2), menu, text, ...below, link("../", "up"));
      },
    };
  },
};

const forum: Shape = {
  name: "forum",
  make({ random, words, size }) {
    const path = pick(random, ["/viewtopic.php", "/forum/topic", "/thread"]);
    const [t, start] = [pick(random, ["t", "topic", "id"]), pick(random, ["start", "page", "p"])];
    const topics = Math.ceil(size / 3);
    const urlAt = (topic: number, page: number): string =>
      page === 0 ? `${path}?${t}=${topic}` : `${path}?${t}=${topic}&${start}=${page * PER_TOPIC}`;
    const good = numbersTo(topics).flatMap((topic) => [0, 1, 2].map((page) => urlAt(topic, page)));
    const known = new Set(good);
    return {
      good,
      entries: () => [urlAt(0, 0)],
      page({ pathname, search, searchParams }) {
        if (!known.has(pathname + search)) return undefined;
        const topic = Number(searchParams.get(t));
        const page = Number(searchParams.get(start) ?? 0) / PER_TOPIC;
        const posts = numbersTo(PER_TOPIC).map((at) => words(`${topic} ${page} ${at}`, 15));
        const pages = [0, 1, 2].map((to) => link(urlAt(topic, to), String(to + 1)));
        const later = [3 * topic + 1, 3 * topic + 2, 3 * topic + 3].filter((to) => to < topics);
        const others = later.map((to) => link(urlAt(to, 0), words(`about ${to}`, 4)));
        return pageOf(words(`about ${topic}`, 4), ...posts, ...pages, ...others);
      },
    };
  },
};

const wiki: Shape = {
  name: "wiki",
  make({ random, words, size }) {
    const names = numbersTo(size).map((n) => `${letters(random, 5)}_${letters(random, 4)}${n % 7}`);
    const root = pick(random, ["/wiki/", "/w/index?title="]);
    const good = names.map((name) => root + name);
    const numberOf = new Map(good.map((url, n) => [url, n]));
    const others = numbersTo(size).map(() => numbersTo(8).map(() => random.below(size)));
    return {
      good,
      entries: () => [good[0] ?? ""],
      page({ pathname, search }) {
        const n = numberOf.get(pathname + search);
        if (n === undefined) return undefined;
        const all = [n + 1, 2 * n + 1, ...(others[n] ?? [])].filter((to) => to < size);
        const text = words(`wiki ${n}`, n % 5 === 0 ? 12 : 100);
        return pageOf(names[n] ?? "", text, ...all.map((to) => link(good[to] ?? "", names[to])));
      },
    };
  },
};

const gallery: Shape = {
  name: "gallery",
  make({ random, words, size }) {
    const root = pick(random, ["/photos/", "/gallery/img-", "/media/view/"]);
    const good = numbersTo(size).map((n) => `${root}${n + 1}`);
    const caption = upTo(random, 6, 14);
    return {
      good,
      entries: () => [good[0] ?? ""],
      page({ pathname, search }) {
        const n = search === "" ? good.indexOf(pathname) : -1;
        if (n < 0) return undefined;
        const near = [n - 1, n + 1, n + 10].filter((to) => to >= 0 && to < size);
        const all = near.map((to) => link(good[to] ?? "", "picture"));
        return pageOf(`Picture ${n + 1}`, words(`caption ${n}`, caption), ...all);
      },
    };
  },
};

const reference: Shape = {
  name: "reference",
  make({ random, words, size }) {
    const names = numbersTo(size).map(() => letters(random, 9));
    const frame = words("frame of reference", 25);
    const good = ["/api/", ...names.map((name) => `/api/${name}.html`)];
    return {
      good,
      entries: () => ["/api/"],
      page({ pathname, search }) {
        const n = search === "" ? good.indexOf(pathname) : -1;
        if (n < 0) return undefined;
        if (n === 0) return pageOf("Reference", ...good.map((path, at) => link(path, names[at])));
        const text = words(`entry ${n}`, 15);
        return pageOf(names[n - 1] ?? "", frame, text, link("/api/", "all"));
      },
    };
  },
};

const agenda: Shape = {
  name: "agenda",
  make({ random, words, size }) {
    const months = Math.ceil(size / 9);
    const name = pick(random, ["month", "m", "at"]);
    const textAt = (n: number): string => dayText(Date.UTC(2_024, n, 1)).slice(0, 7);
    const monthAt = (n: number): string => `/agenda?${name}=${textAt(n)}`;
    const eventAt = (n: number): string => `/event/${letterOf(n)}-${n}`;
    const letterOf = (n: number): string => words(`event ${n}`, 2).replaceAll(" ", "-");
    const good = [
      ...numbersTo(months).map(monthAt),
      ...numbersTo(months * 8).map((n) => eventAt(n)),
    ];
    const known = new Map(good.map((url, n) => [url, n]));
    return {
      good,
      entries: () => [monthAt(Math.floor(months / 2))],
      page({ pathname, search }) {
        const n = known.get(pathname + search);
        if (n === undefined) return undefined;
        if (n >= months)
          return pageOf(
            words(`event ${n - months}`, 2),
            words(`about ${n}`, 50),
            link("/", "home"),
          );
        const near = [n - 1, n + 1].filter((to) => to >= 0 && to < months).map(monthAt);
        const events = numbersTo(8).map((at) =>
          link(eventAt(n * 8 + at), words(`e ${n} ${at}`, 3)),
        );
        return pageOf(`Agenda ${textAt(n)}`, ...events, ...near.map((to) => link(to)));
      },
    };
  },
};

export const GOOD_SHAPES: readonly Shape[] = [
  ...[articles, listing, archive, docs, forum, wiki, gallery, reference, agenda],
];
