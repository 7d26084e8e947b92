/** Good parts of a site that look like traps: lists in pages, dates, ids, versions, entries of a few words within one frame. */
import { DAY_MS, dayText, letters, link, numbersTo, pick } from "../trap-shapes/shape.ts";
import { type Good, type GoodFamily, links, type Site, upTo } from "./family.ts";

function tree(count: number, n: number, width: number): number[] {
  return numbersTo(width)
    .map((child) => width * n + child + 1)
    .filter((child) => child < count);
}

/** Articles by words, each leading to some others. */
const articles: GoodFamily = ({ random, words }, size) => {
  const root = pick(random, ["", "/a", "/news/story"]);
  const urls = numbersTo(size).map((n) => `${root}/${words(`slug ${n}`, 3).replaceAll(" ", "-")}`);
  const length = upTo(random, 40, 300);
  return {
    urls,
    entries: [urls[0] ?? ""],
    page: (n) =>
      `<h1>${words(`title ${n}`, 5)}</h1><p>${words(`article ${n}`, length)}</p>${links(
        tree(size, n, 5).map((to) => urls[to] ?? ""),
      )}`,
  };
};

/** A list in pages, and a thing for each entry by its number; things have a short text in a long frame. */
const catalogue: GoodFamily = ({ random, words }, size) => {
  const root = `/${pick(random, ["shop", "products", "store/items"])}`;
  const per = upTo(random, 8, 25);
  const things = Math.max(1, Math.floor((size * per) / (per + 1)));
  const pages = Math.ceil(things / per);
  const isQuery = random.below(2) === 0;
  const listAt = (n: number): string =>
    isQuery ? `${root}?page=${n + 1}` : `${root}/page/${n + 1}`;
  const thingAt = (n: number): string => `${root}/item/${1_000 + n * 7}`;
  const urls = [...numbersTo(pages).map(listAt), ...numbersTo(things).map(thingAt)];
  const frame = words("frame of things", upTo(random, 10, 80));
  const own = upTo(random, 12, 40);
  return {
    urls,
    entries: [listAt(0)],
    page(n) {
      if (n >= pages) {
        const thing = n - pages;
        const near = [(thing + 1) % things, (thing * 5 + 3) % things].map(thingAt);
        const head = `<h1>${words(`name ${thing}`, 3)}</h1><p>${words(`thing ${thing}`, own)}</p>`;
        return `${head}<p>${frame}</p>${links(near)}`;
      }
      const shown = numbersTo(per)
        .map((at) => n * per + at)
        .filter((thing) => thing < things)
        .map((thing) => link(thingAt(thing), words(`name ${thing}`, 3)));
      const near = [n - 1, n + 1, n + 2].filter((to) => to >= 0 && to < pages).map(listAt);
      return `<h1>Things</h1>${shown.join("")}${links(near, "page")}`;
    },
  };
};

/** A blog by year, month and day. */
const blog: GoodFamily = ({ random, words }, size) => {
  const root = pick(random, ["", "/blog", "/weblog"]);
  const posts = Math.max(2, Math.floor(size * 0.85));
  const first = Date.UTC(2_015, random.below(12), 2);
  const every = upTo(random, 2, 9);
  const days = numbersTo(posts).map((n) => dayText(first + n * every * DAY_MS).split("-"));
  const postAt = (n: number): string =>
    `${root}/${days[n]?.join("/")}/${words(`blog ${n}`, 2).replace(" ", "-")}.html`;
  const months = [...new Set(days.map(([year, month]) => `${root}/${year}/${month}/`))];
  const urls = [...months, ...numbersTo(posts).map(postAt)];
  return {
    urls,
    entries: [months.at(-1) ?? ""],
    page(n) {
      if (n < months.length) {
        const within = numbersTo(posts).filter((post) => postAt(post).startsWith(months[n] ?? "-"));
        const titles = within.map((post) => link(postAt(post), words(`headline ${post}`, 5)));
        const near = [months[n - 1], months[n + 1]].filter((url) => url !== undefined);
        return `<h1>Archive</h1>${titles.join("")}${links(near, "month")}`;
      }
      const post = n - months.length;
      return `<h1>${words(`headline ${post}`, 5)}</h1><p>${words(`post ${post}`, 90)}</p>${links(
        [post - 1, post + 1].filter((to) => to >= 0 && to < posts).map(postAt),
      )}`;
    },
  };
};

/** A tree of documents, in versions that differ in a paragraph. */
const versions: GoodFamily = ({ random, words }, size) => {
  const names = ["1.0", "2.0", "latest"].slice(0, upTo(random, 1, 3));
  const topics = Math.max(1, Math.floor(size / names.length));
  const folders = numbersTo(topics).map(() => letters(random, 7));
  const at = (version: number, topic: number): string =>
    `/docs/${names[version]}/${folders[Math.floor(topic / 8) * 8]}/${folders[topic]}.html`;
  const urls = names.flatMap((_, version) => numbersTo(topics).map((topic) => at(version, topic)));
  return {
    urls,
    entries: names.map((_, version) => at(version, 0)),
    page(n) {
      const [version, topic] = [Math.floor(n / topics), n % topics];
      const changed = words(`changed ${version} ${topic}`, 40);
      const head = `<h1>${folders[topic]}</h1><p>${words(`topic ${topic}`, 80)}</p>`;
      return `${head}<p>${changed}</p>${links(
        tree(topics, topic, 4).map((to) => at(version, to)),
      )}`;
    },
  };
};

/** Topics in pages of posts; words of the users repeat. */
const forum: GoodFamily = ({ random, words }, size) => {
  const path = pick(random, ["/showthread.php", "/t", "/forum/view"]);
  const topics = Math.max(1, Math.floor(size / 2));
  const urlAt = (topic: number, page: number): string =>
    `${path}?tid=${topic + 10}${page > 0 ? `&page=${page + 1}` : ""}`;
  const urls = numbersTo(topics).flatMap((topic) => [urlAt(topic, 0), urlAt(topic, 1)]);
  return {
    urls,
    entries: [urlAt(0, 0)],
    page(n) {
      const [topic, page] = [Math.floor(n / 2), n % 2];
      const posts = numbersTo(6).map(
        (at) =>
          `<p>${words(`user ${(n + at) % 40}`, 1)} wrote: ${words(`post ${n} ${at}`, 12)}</p>`,
      );
      const next = tree(topics, topic, 3).map((to) => urlAt(to, 0));
      return `<h1>${words(`subject ${topic}`, 4)}</h1>${posts.join("")}${links([
        urlAt(topic, 1 - page),
        ...next,
      ])}`;
    },
  };
};

/** Entries of a few words in a long frame, all linked from a list. */
const reference: GoodFamily = ({ random, words }, size) => {
  const names = numbersTo(size).map(() => letters(random, 9));
  const frame = words("frame of entries", upTo(random, 20, 90));
  const own = upTo(random, 10, 20);
  const urls = ["/api/", ...names.slice(1).map((name) => `/api/${name}`)];
  return {
    urls,
    entries: ["/api/"],
    page: (n) =>
      n === 0
        ? `<h1>All</h1>${urls.map((url, at) => link(url, names[at])).join("")}`
        : `<h1>${names[n]}</h1><p>${frame}</p><p>${words(`entry ${n}`, own)}</p>${links([
            "/api/",
            urls[(n * 3 + 1) % size] ?? "",
          ])}`,
  };
};

/** Tables of numbers, by year and place, one leading to the next. */
const tables: GoodFamily = ({ random, words }, size) => {
  const places = numbersTo(10).map(() => letters(random, 6));
  const urlAt = (n: number): string => `/data/${places[n % 10]}/${1_900 + Math.floor(n / 10)}`;
  const urls = numbersTo(size).map(urlAt);
  const heads = words("heads of tables", 12);
  return {
    urls,
    entries: [urlAt(0)],
    page(n) {
      const rows = numbersTo(12).map(
        (at) => `<p>${words(`row ${at}`, 2)} ${(n * 7_919 + at * 104_729) % 10_007}</p>`,
      );
      return `<h1>${places[n % 10]}</h1><p>${heads}</p>${rows.join("")}${links(
        [n + 1, n + 10].filter((to) => to < size).map(urlAt),
      )}`;
    },
  };
};

/** Pictures with a caption, one after another. */
const pictures: GoodFamily = ({ random, words }, size) => {
  const root = pick(random, ["/photo/", "/gallery?img=", "/p/"]);
  const urls = numbersTo(size).map((n) => `${root}${n + 1}`);
  const own = upTo(random, 5, 15);
  return {
    urls,
    entries: [urls[0] ?? ""],
    page: (n) =>
      `<h1>Picture</h1><p>${words(`caption ${n}`, own)}</p>${links(
        [n - 1, n + 1, n + 12].filter((to) => to >= 0 && to < size).map((to) => urls[to] ?? ""),
      )}`,
  };
};

/** People by name, each with a few words, all in lists by letter. */
const people: GoodFamily = ({ words }, size) => {
  const lists = Math.max(1, Math.floor(size / 30));
  const count = Math.max(1, size - lists);
  const nameOf = (n: number): string => `${words(`first ${n}`, 1)}-${words(`last ${n}`, 1)}-${n}`;
  const urls = [
    ...numbersTo(lists).map((n) => `/people/?group=${n}`),
    ...numbersTo(count).map((n) => `/people/${nameOf(n)}`),
  ];
  return {
    urls,
    entries: numbersTo(lists).map((n) => urls[n] ?? ""),
    page(n) {
      if (n < lists)
        return `<h1>People</h1>${links(urls.slice(lists).filter((_, at) => at % lists === n))}`;
      const own = n - lists;
      const about = `Room ${own * 3}, works on ${words(`work ${own}`, 6)}`;
      const name = nameOf(own).replaceAll("-", " ");
      return `<h1>${name}</h1><p>${about}</p>${links([urls[0] ?? ""])}`;
    },
  };
};

/** Months that hold events, and the events. */
const agenda: GoodFamily = ({ random, words }, size) => {
  const months = Math.max(1, Math.ceil(size / 7));
  const count = Math.max(0, size - months);
  const isPath = random.below(2) === 0;
  const monthAt = (n: number): string => {
    const text = dayText(Date.UTC(2_022, n, 1)).slice(0, 7);
    return isPath ? `/programme/${text.replace("-", "/")}/` : `/programme?month=${text}`;
  };
  const eventAt = (n: number): string => `/event/${words(`event ${n}`, 2).replace(" ", "-")}-${n}`;
  const urls = [...numbersTo(months).map(monthAt), ...numbersTo(count).map(eventAt)];
  return {
    urls,
    entries: [monthAt(0)],
    page(n) {
      if (n >= months) {
        const event = n - months;
        return `<h1>${words(`event ${event}`, 2)}</h1><p>${words(`about ${event}`, 40)}</p>`;
      }
      const within = numbersTo(6)
        .map((at) => n * 6 + at)
        .filter((event) => event < count)
        .map((event) => link(eventAt(event), words(`event ${event}`, 2)));
      const near = [n - 1, n + 1].filter((to) => to >= 0 && to < months).map(monthAt);
      return `<h1>Programme</h1>${within.join("")}${links(near, "month")}`;
    },
  };
};

/** The same articles in three languages. */
const languages: GoodFamily = ({ words }: Site, size): Good => {
  const codes = ["en", "de", "fr"];
  const count = Math.max(1, Math.floor(size / codes.length));
  const at = (code: number, n: number): string => `/${codes[code]}/guide/${n + 1}.html`;
  const urls = codes.flatMap((_, code) => numbersTo(count).map((n) => at(code, n)));
  return {
    urls,
    entries: [at(0, 0)],
    page(n) {
      const [code, topic] = [Math.floor(n / count), n % count];
      const others = codes.map((_, other) => at(other, topic));
      const text = words(`text ${code} ${topic}`, 70);
      return `<h1>${words(`${code} ${topic}`, 3)}</h1><p>${text}</p>${links([
        ...others,
        ...tree(count, topic, 4).map((to) => at(code, to)),
      ])}`;
    },
  };
};

export const GOOD_FAMILIES: Readonly<Record<string, GoodFamily>> = {
  ...{ articles, catalogue, blog, versions, forum, reference, tables, pictures, people },
  ...{ agenda, languages },
};
