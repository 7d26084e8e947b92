/**
 * Good parts after real software and real services. Many have a row or a sentence on each page.
 *
 *   rows        museum · climate · timetable · players · tides
 *   sentences   homes · postcodes · glossary · verses · taxa · albums · suites
 *   long        newspaper · jobs · help · board
 */
import { type GoodFamily, upTo } from "../trap-families/family.ts";
import { DAY_MS, dayText, letters, link, numbersTo, pick } from "../trap-shapes/shape.ts";
import { collection, fixed, listed, named, table } from "./lists.ts";

const LETTER_COUNT = 26;
const MONTHS =
  "january february march april may june july august september october november december";
const MATERIALS = ["oil on canvas", "bronze", "etching", "glass", "silk", "limewood", "silver"];

const slug = (text: string): string => text.replaceAll(" ", "-");
const letterOf = (list: number): string => String.fromCharCode(97 + (list % LETTER_COUNT));

/** A catalogue of objects, by accession number. */
const museum: GoodFamily = ({ random, words }, size) => {
  const root = `/${pick(random, ["collection/object", "emuseum/objects", "works"])}`;
  const [lists, style] = [listed(size, upTo(random, 10, 48)), random.below(2)];
  return collection(random, lists, {
    itemAt: (n) => `${root}/${1890 + ((n * 7) % 110)}.${1 + (n % 40)}.${n}`,
    listAt: (n) => (style === 0 ? `${root}?page=${n + 1}` : `${root}/list/${n + 1}`),
    label: (n) => words(`object ${n}`, 2),
    item(n) {
      const at = fixed(`object ${n}`);
      const made = ["Made", 1500 + at.below(400)];
      const size = ["Size", `${5 + at.below(200)} × ${5 + at.below(200)} cm`];
      const kind = ["Material", pick(at, MATERIALS)];
      return `<h1>${words(`object ${n}`, 2)}</h1>${table(made, kind, size)}<p>Not on view</p>`;
    },
    list: (n) => `<h1>Objects, page ${n + 1} of ${lists.lists}</h1>`,
    ...{ lead: "pager", reach: "list" },
  });
};

/** Homes for sale. The text of the agent is on each of them. */
const homes: GoodFamily = ({ random, words }, size) => {
  const [root, town] = [`/${pick(random, ["for-sale", "immobilien", "listings"])}`, "town"];
  const lists = listed(size, upTo(random, 8, 30));
  const street = (n: number): string => slug(words(`street ${n % 61}`, 1));
  const priceOf = (n: number): number => 1000 * (90 + fixed(`home ${n}`).below(900));
  return collection(random, lists, {
    itemAt: (n) =>
      `${root}/${words(`${town} ${n % 7}`, 1)}/${street(n)}-${n + 3}-id${7001 + n * 13}`,
    listAt: (n) =>
      n === 0 ? `${root}.html` : `${root}.html?pn=${n + 1}&per=${lists.itemsOf(0).length}`,
    label: (n) => `${1 + (n % 5)} rooms, ${street(n)}`,
    item: (n) =>
      `<h1>${1 + (n % 5)} rooms in ${street(n)}</h1>` +
      `<p>${words(`${town} ${n % 7}`, 1)}, ${priceOf(n)}</p>` +
      `<p>${words(`agent ${n % 3}`, 30)}</p>`,
    list: (n) => `<h1>Homes for sale</h1><p>Page ${n + 1}</p>`,
    ...{ lead: "pager", reach: "list" },
  });
};

/** The climate of stations, month by month. */
const climate: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [listed(size, 12), `/${pick(random, ["climate", "klima", "normals"])}`];
  const station = (list: number): string => `${10_000 + list * 37}`;
  const monthOf = (n: number): string => MONTHS.split(" ")[lists.placeOf(n)] ?? "";
  return collection(random, lists, {
    itemAt: (n) => `${root}/${station(lists.listOf(n))}/${monthOf(n)}`,
    listAt: (list) => `${root}/${station(list)}`,
    label: monthOf,
    item(n) {
      const at = fixed(`climate ${n}`);
      const values = numbersTo(5).map(() => (at.below(300) / 10).toFixed(1));
      const head = ["mean", "highest", "lowest", "rain", "sun"];
      return `<h1>${monthOf(n)}, station ${station(lists.listOf(n))}</h1>${table(head, values)}`;
    },
    list: (list) => `<h1>${words(`station ${list}`, 1)}</h1><p>${list * 3} m above the sea</p>`,
    ...{ lead: "index", reach: "list" },
  });
};

/** Lines, each with two directions and three kinds of day. */
const timetable: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [listed(size, 6), `/${letters(random, 4)}/timetable.php`];
  const days = ["weekday", "saturday", "sunday"];
  const dayOf = (n: number): string => days[lists.placeOf(n) % 3] ?? "";
  const wayOf = (n: number): number => Math.floor(lists.placeOf(n) / 3);
  const lineOf = (n: number): number => lists.listOf(n) + 1;
  return collection(random, lists, {
    itemAt: (n) => `${root}?line=${lineOf(n)}&dir=${wayOf(n)}&day=${dayOf(n)}`,
    listAt: (list) => `${root}?line=${list + 1}`,
    label: (n) => `${dayOf(n)} ${wayOf(n) === 0 ? "out" : "back"}`,
    item(n) {
      const [line, at] = [lineOf(n), fixed(`line ${n}`)];
      const stop = (k: number): string => words(`stop ${(line * 5 + k) % 90}`, 1);
      const rows = numbersTo(8).map((k) => [
        stop(wayOf(n) === 0 ? k : 7 - k),
        ...numbersTo(4).map((hour) => `${6 + hour * 3}:${10 + ((k * 4 + at.below(3)) % 50)}`),
      ]);
      return `<h1>Line ${line}, ${dayOf(n)}</h1>${table(...rows)}`;
    },
    list: (list) => `<h1>Line ${list + 1}</h1>`,
    ...{ lead: "index", reach: "list" },
  });
};

/** A package in several suites of a distribution: the same description, another version. */
const suites: GoodFamily = ({ random, words }, size) => {
  const names = ["bookworm", "trixie", "forky", "sid"].slice(0, upTo(random, 2, 4));
  const lists = listed(size, Math.ceil(size / names.length));
  const root = `/${pick(random, ["packages", "pkg", "distro"])}`;
  const nameOf = (n: number): string => `lib${words(`package ${lists.placeOf(n)}`, 1)}`;
  return collection(random, lists, {
    itemAt: (n) => `${root}/${names[lists.listOf(n)]}/${nameOf(n)}${lists.placeOf(n)}`,
    listAt: (list) => `${root}/${names[list]}/`,
    label: nameOf,
    item(n) {
      const [place, suite] = [lists.placeOf(n), lists.listOf(n)];
      const minor = fixed(`minor ${place}`).below(20) + suite;
      const version = `${1 + (place % 4)}.${minor}-${suite + 1}`;
      const needs = words(`needs ${place}`, 3);
      const text = words(`about ${place}`, 18);
      return `<h1>${nameOf(n)} (${version})</h1><p>${text}</p><p>depends on ${needs}</p>`;
    },
    list: (list) => `<h1>Packages of ${names[list]}</h1>`,
    ...{ lead: "index", reach: "list" },
  });
};

/** Players, and their games of each season. */
const players: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [listed(size, upTo(random, 3, 9)), `/${pick(random, ["players", "p"])}`];
  const idOf = (list: number): string => `${words(`player ${list}`, 1).slice(0, 5)}${list}`;
  const pathOf = (list: number): string => `${root}/${idOf(list)[0]}/${idOf(list)}`;
  return collection(random, lists, {
    itemAt: (n) => `${pathOf(lists.listOf(n))}/gamelog/${2_001 + lists.placeOf(n)}`,
    listAt: (list) => `${pathOf(list)}.html`,
    label: (n) => `${2_001 + lists.placeOf(n)}`,
    item(n) {
      const at = fixed(`games ${n}`);
      const rows = numbersTo(upTo(at, 3, 14)).map((g) => [
        g + 1,
        ...numbersTo(6).map(() => at.below(40)),
      ]);
      return `<h1>${words(`player ${lists.listOf(n)}`, 2)}</h1>${table(...rows)}`;
    },
    list: (list) => `<h1>${words(`player ${list}`, 2)}</h1><p>Born ${1970 + (list % 30)}</p>`,
    ...{ lead: "pager", reach: "list" },
  });
};

/** Tides of ports: each day leads to the day after it, until the table ends. */
const tides: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [
    listed(size, upTo(random, 30, 120)),
    `/${pick(random, ["tides", "tide"])}`,
  ];
  const dayOf = (n: number): string => dayText(Date.UTC(2_027, 2, 1) + lists.placeOf(n) * DAY_MS);
  const portOf = (list: number): string => `${words(`port ${list}`, 1)}-${list}`;
  return collection(random, lists, {
    itemAt: (n) => `${root}/${portOf(lists.listOf(n))}/${dayOf(n)}`,
    listAt: (list) => `${root}/${portOf(list)}`,
    label: dayOf,
    item(n) {
      const at = fixed(`tide ${n}`);
      const row = (name: string): Array<string | number> => [
        name,
        `${at.below(24)}:${10 + at.below(50)}`,
        (at.below(900) / 100).toFixed(2),
      ];
      return `<h1>${dayOf(n)}</h1>${table(row("high"), row("low"), row("high"), row("low"))}`;
    },
    list: (list) => `<h1>Tides of ${words(`port ${list}`, 1)}</h1>`,
    ...{ lead: "index", reach: "next" },
  });
};

/** Digitised newspapers: issues by their date, and the text of each page, one after another. */
const newspaper: GoodFamily = ({ random, words }, size) => {
  const lists = listed(size, upTo(random, 4, 16));
  const issueAt = (list: number): string =>
    `/${"lccn"}/sn${83_030_214}/${dayText(Date.UTC(1_893, 3, 12) + list * 7 * DAY_MS)}/ed-1`;
  return collection(random, lists, {
    itemAt: (n) => `${issueAt(lists.listOf(n))}/seq-${lists.placeOf(n) + 1}/ocr`,
    listAt: (list) => `${issueAt(list)}/`,
    label: (n) => `page ${lists.placeOf(n) + 1}`,
    item: (n) => `<p>${words(`column ${n}`, 90 + ((n * 41) % 160))}</p>`,
    list: (list) => `<h1>Issue ${list + 1}</h1>`,
    ...{ lead: "pager", reach: "next" },
  });
};

/** Pictures in albums: a name from the camera, a size, a date. */
const albums: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [
    listed(size, upTo(random, 9, 40)),
    `/${pick(random, ["piwigo", "photos"])}`,
  ];
  return collection(random, lists, {
    itemAt: (n) => `${root}/picture.php?/${n + 31}/category/${lists.listOf(n) + 1}`,
    listAt: (list) => `${root}/index.php?/category/${list + 1}`,
    label: (n) => `IMG_${2_000 + n}`,
    item: (n) =>
      `<h1>IMG_${2_000 + n}</h1>` +
      `<p>${lists.placeOf(n) + 1} / ${lists.itemsOf(lists.listOf(n)).length}</p>` +
      `<p>4000 × 3000, ${300 + fixed(`kb ${n}`).below(5_000)} KB</p>`,
    list: (list) => `<h1>${words(`album ${list}`, 2)}</h1>`,
    ...{ lead: "index", reach: "list" },
  });
};

/** Terms by their first letter. */
const glossary: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [listed(size, Math.max(2, Math.ceil(size / 22))), "/doku.php?id="];
  const term = (n: number): string => `${letterOf(lists.listOf(n))}${words(`term ${n}`, 1)}`;
  return collection(random, lists, {
    itemAt: (n) => `${root}glossary:${term(n)}_${n}`,
    listAt: (list) => `${root}glossary:${letterOf(list)}`,
    label: term,
    item: (n) => `<h1>${term(n)}</h1><p>${words(`meaning ${n}`, 6 + (n % 9))}</p>`,
    list: (list) => `<h1>Terms with ${letterOf(list)}</h1>`,
    ...{ lead: "index", reach: "list" },
  });
};

/** Jobs of a few companies, each with the long text of its company. */
const jobs: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [
    listed(size, upTo(random, 10, 25)),
    `/${pick(random, ["jobs", "stellen"])}`,
  ];
  const titleOf = (n: number): string => words(`job ${n % 37}`, 3);
  return collection(random, lists, {
    itemAt: (n) => `${root}/${1_200_000 + n * 17}-${slug(titleOf(n))}`,
    listAt: (n) => (n === 0 ? root : `${root}/page/${n + 1}`),
    label: titleOf,
    item: (n) =>
      `<h1>${titleOf(n)}</h1><p>in ${words(`place ${n}`, 1)}</p>` +
      `<p>${words(`duties ${n % 37}`, 25)}</p>` +
      `<p>${words(`company ${n % 5}`, 80)}</p>`,
    list: (n) => `<h1>Jobs</h1><p>from ${n * lists.itemsOf(0).length + 1}</p>`,
    ...{ lead: "pager", reach: "list" },
  });
};

/** A book verse by verse. */
const verses: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [listed(size, upTo(random, 12, 40)), `/${letters(random, 6)}`];
  const nameOf = (n: number): string => `${lists.listOf(n) + 1}-${lists.placeOf(n) + 1}`;
  return collection(random, lists, {
    itemAt: (n) => `${root}/${nameOf(n)}.htm`,
    listAt: (list) => `${root}/${list + 1}.htm`,
    label: nameOf,
    item: (n) => `<h1>${nameOf(n)}</h1><p>${words(`verse ${n}`, 9 + ((n * 5) % 17))}</p>`,
    list: (list) => `<h1>Chapter ${list + 1}</h1>`,
    ...{ lead: "pager", reach: pick(random, ["next", "list"] as const) },
  });
};

/** Help in languages of regions: two of a language differ in a word of each page. */
const help: GoodFamily = ({ random, words }, size) => {
  const regions = ["en-gb", "en-us", "de-de", "de-at", "fr-fr"].slice(0, upTo(random, 2, 5));
  const lists = listed(size, Math.ceil(size / regions.length));
  const root = random.below(2) === 0 ? "" : "/hc";
  const about = (n: number): string =>
    `${regions[lists.listOf(n)]?.slice(0, 2)} ${lists.placeOf(n)}`;
  return collection(random, lists, {
    itemAt: (n) =>
      `${root}/${regions[lists.listOf(n)]}/articles/${360_000 + lists.placeOf(n) * 11}`,
    listAt: (list) => `${root}/${regions[list]}`,
    label: (n) => words(`title ${about(n)}`, 4),
    item: (n) =>
      `<h1>${words(`title ${about(n)}`, 4)}</h1><p>${words(`help ${about(n)}`, 60)} ` +
      `${words(`regional ${n}`, 1)} ${words(`more ${about(n)}`, 20)}</p>`,
    list: (list) => `<h1>${words(`help ${regions[list]?.slice(0, 2)}`, 2)}</h1>`,
    ...{ lead: "index", reach: "list" },
  });
};

/** A sentence for each postcode. */
const postcodes: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [listed(size, upTo(random, 10, 60)), `/${pick(random, ["plz", "zip"])}`];
  const first = upTo(random, 10, 40);
  const codeOf = (n: number): string => `${first + lists.listOf(n)}${101 + lists.placeOf(n) * 7}`;
  return collection(random, lists, {
    itemAt: (n) => `${root}/${codeOf(n)}`,
    listAt: (list) => `${root}/${first + list}nnn`,
    label: codeOf,
    item: (n) =>
      `<h1>${codeOf(n)}</h1><p>The postcode ${codeOf(n)} is that of ${words(`place ${n}`, 1)} ` +
      `in the county of ${words(`county ${lists.listOf(n)}`, 1)}.</p>`,
    list: (list) => `<h1>Postcodes that begin with ${first + list}</h1>`,
    ...{ lead: "index", reach: "list" },
  });
};

/** Topics of one to four pages, on the pages of a forum. */
const board: GoodFamily = ({ random, words }, size) => {
  const [perList, perTopic, root] = [20, 15, `/${pick(random, ["forum", "phpBB3", "community"])}`];
  const lists = Math.max(1, Math.floor(size / 40));
  const pages: Array<readonly [topic: number, page: number]> = [];
  for (let topic = 1; pages.length < size - lists; topic++)
    for (const page of numbersTo(upTo(random, 1, 4))) pages.push([topic, page]);
  pages.length = size - lists;
  const topicAt = (topic: number, page: number): string =>
    `${root}/viewtopic.php?t=${topic}${page > 0 ? `&start=${page * perTopic}` : ""}`;
  const listAt = (n: number): string =>
    `${root}/viewforum.php?f=2${n > 0 ? `&start=${n * perList}` : ""}`;
  const topics = [...new Set(pages.map(([topic]) => topic))];
  const per = Math.ceil(topics.length / lists);
  const title = (topic: number): string => words(`topic ${topic}`, 5);
  return {
    urls: [...pages.map(([topic, page]) => topicAt(topic, page)), ...numbersTo(lists).map(listAt)],
    entries: [listAt(0)],
    page(n) {
      const list = n - pages.length;
      if (list >= 0) {
        const near = [list - 1, list + 1].filter((to) => to >= 0 && to < lists).map(listAt);
        const own = topics.slice(list * per, (list + 1) * per);
        const toTopics = own.map((topic) => link(topicAt(topic, 0), title(topic))).join("");
        return `<h1>Topics</h1>${toTopics}${named(near, () => "page")}`;
      }
      const [topic = 0, page = 0] = pages[n] ?? [];
      const posts = numbersTo(upTo(fixed(`posts ${n}`), 2, perTopic)).map(
        (post) =>
          `<p>${words(`poster ${(n * 3 + post) % 41}`, 1)}</p>` +
          `<p>${words(`post ${n} ${post}`, 8 + ((post * 31 + n) % 50))}</p>`,
      );
      const others = pages.filter(([of, at]) => of === topic && at !== page);
      const toOthers = named(
        others.map(([of, at]) => topicAt(of, at)),
        () => "page",
      );
      return `<h1>${title(topic)}</h1>${posts.join("")}${toOthers}`;
    },
  };
};

/** A tree of taxa. Nothing but the tree leads to them. */
const taxa: GoodFamily = ({ random, words }, size) => {
  const [width, root] = [
    upTo(random, 3, 9),
    `/${"servlet"}/SingleRpt?search_topic=TSN&search_value=`,
  ];
  const urls = numbersTo(size).map((n) => `${root}${202_422 + n * 3}`);
  const ranks = ["kingdom", "phylum", "class", "order", "family", "genus", "species"];
  const parentOf = (n: number): number => Math.floor((n - 1) / width);
  const depthOf = (n: number): number => (n === 0 ? 0 : 1 + depthOf(parentOf(n)));
  const nameOf = (n: number): string => `${words(`taxon ${n}`, 1)}us`;
  return {
    urls,
    entries: urls.slice(0, 1),
    page(n) {
      const below = numbersTo(width)
        .map((k) => n * width + 1 + k)
        .filter((to) => to < size);
      const rows = table(
        ["Rank", ranks[depthOf(n)] ?? "form"],
        ["Name", nameOf(n)],
        ["Status", "valid"],
      );
      const up = n === 0 ? "" : link(urls[parentOf(n)] ?? "", nameOf(parentOf(n)));
      const down = below.map((to) => link(urls[to] ?? "", nameOf(to))).join("");
      return `<h1>${nameOf(n)}</h1>${rows}${up}${down}`;
    },
  };
};

export const SOFTWARE_GOOD: Readonly<Record<string, GoodFamily>> = {
  ...{ museum, homes, climate, timetable, suites, players, tides, newspaper, albums, glossary },
  ...{ jobs, verses, help, postcodes, board, taxa },
};
