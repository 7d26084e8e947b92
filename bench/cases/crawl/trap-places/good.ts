/**
 * Good parts after institutions and shops. No page is a copy of another one.
 *
 *   numbers  league · parcels   sentences  comic · courses (under rules that many share)
 *   fields   opac · genealogy · mirror   texts  protocols · bugs · mails · languages
 */
import { type GoodFamily, upTo } from "../trap-families/family.ts";
import { DAY_MS, dayText, letters, numbersTo, pick } from "../trap-shapes/shape.ts";
import { collection, fixed, listed, named, page, table } from "../trap-software/lists.ts";

const texts = (of: readonly string[]): string => of.map((text) => `<p>${text}</p>`).join("");

/** Records of a library: fields and a shelf mark. */
const opac: GoodFamily = ({ random, words }, size) => {
  const [root, lists] = [`/${pick(random, ["koha", "webopac", "vufind"])}`, listed(size, 20)];
  const label = (n: number): string => words(`title ${n}`, 2 + (n % 5));
  return collection(random, lists, {
    itemAt: (n) => `${root}/detail.pl?biblionumber=${311 + n * 11}`,
    listAt: (n) => `${root}/shelf.pl?mark=${String.fromCharCode(65 + (n % 26))}${n}`,
    item(n) {
      const at = fixed(`record ${n}`);
      const author = ["Author", words(`author ${n % 37}`, 2)];
      const printed = ["Printed", words(`press ${n % 9}`, 1), 1850 + at.below(170)];
      return page(label(n), table(author, printed, ["Extent", `${40 + at.below(600)} p.`]));
    },
    list: (n) => `<h1>Shelf ${n + 1}</h1>`,
    ...{ label, lead: "pager", reach: "list" },
  });
};

/** Sittings of a parliament: the long text of each speech, one after another. */
const protocols: GoodFamily = ({ random, words }, size) => {
  const [lists, term] = [listed(size, upTo(random, 5, 25)), upTo(random, 9, 19)];
  const root = `/${pick(random, ["plenary", "hansard", "protokolle"])}/${term}`;
  const label = (n: number): string => words(`member ${(n * 7) % 60}`, 2);
  return collection(random, lists, {
    itemAt: (n) => `${root}/${lists.listOf(n) + 1}/speech-${lists.placeOf(n) + 1}`,
    listAt: (n) => `${root}/${n + 1}`,
    item(n) {
      const parts = numbersTo(2 + (n % 6)).map((k) => words(`speech ${n} ${k}`, 40 + (n % 50)));
      return page(label(n), texts(parts));
    },
    list: (n) => page(`Sitting ${n + 1}`, words(`order of business ${n}`, 30)),
    ...{ label, lead: "pager", reach: "next" },
  });
};

/** Descendants of a couple. Their family leads to a person, and nothing else does. */
const genealogy: GoodFamily = ({ random, words }, size) => {
  const root = `/${pick(random, ["tng/getperson.php", "ahnen/person.php"])}`;
  const [names, children] = [upTo(random, 2, 6), upTo(random, 2, 4)];
  const nameOf = (n: number): string =>
    `${words(`given ${n % 90}`, 1 + (n % 2))} ${words(`family ${n % names}`, 1)}`;
  const urls = numbersTo(size).map((n) => `${root}?personID=I${n + 100}&tree=t1`);
  return {
    ...{ urls, entries: urls.slice(0, 1) },
    page(n) {
      const [at, year] = [fixed(`person ${n}`), 1690 + Math.floor(Math.log2(n + 1) * 28)];
      const born = Date.UTC(year, 0, 1) + at.below(3_000) * DAY_MS;
      const died = dayText(born + at.below(32_000) * DAY_MS);
      const own = numbersTo(children).map((k) => n * children + 1 + k);
      const near = [Math.floor((n - 1) / children), ...own].filter((to) => to >= 0 && to < size);
      const life = table([dayText(born), died, words(`in ${at.below(20)}`, 1)]);
      const family = near.flatMap((to) => urls[to] ?? []);
      return page(nameOf(n), life + named(family, (k) => nameOf(near[k] ?? 0)));
    },
  };
};

/** Results of a league by season and matchday: clubs and numbers. */
const league: GoodFamily = ({ random, words }, size) => {
  const [lists, clubs] = [listed(size, upTo(random, 10, 34)), 2 * upTo(random, 4, 9)];
  const root = `/${pick(random, ["liga", "standings", "league"])}-${letters(random, 2)}`;
  const club = (n: number): string => words(`club ${n % clubs}`, 1);
  const label = (n: number): string => `${lists.placeOf(n) + 1}`;
  return collection(random, lists, {
    itemAt: (n) => `${root}/${1964 + lists.listOf(n)}/${label(n)}`,
    listAt: (n) => `${root}/${1964 + n}`,
    item(n) {
      const at = fixed(`matchday ${n}`);
      const pair = (k: number): string => `${club(k + n)} : ${club(clubs - 1 - k + n)}`;
      const scores = numbersTo(clubs / 2).map((k) => [pair(k), at.below(6), at.below(5)]);
      return page(`Matchday ${label(n)}`, table(...scores));
    },
    list(n) {
      const at = fixed(`season ${n}`);
      const rows = numbersTo(clubs).map((k) => [club(k + n), at.below(90)]);
      return page(`Season ${1964 + n}`, table(...rows));
    },
    ...{ label, lead: "index", reach: "list" },
  });
};

/** Courses of a university. Those of a faculty have long rules in common. */
const courses: GoodFamily = ({ random, words }, size) => {
  const [lists, rules] = [listed(size, upTo(random, 12, 40)), upTo(random, 20, 110)];
  const root = `/${pick(random, ["vvz", "courses", "studium/lv"])}/${upTo(random, 2009, 2026)}w`;
  const label = (n: number): string => words(`course ${n}`, 3);
  return collection(random, lists, {
    itemAt: (n) => `${root}?faculty=${lists.listOf(n) + 1}&course=${40_000 + n * 7}`,
    listAt: (n) => `${root}?faculty=${n + 1}`,
    item(n) {
      const held = [words(`lecturer ${n % 50}`, 2), `Room ${100 + ((n * 13) % 300)}`, 8 + (n % 11)];
      return page(label(n), table(held) + texts([words(`rules ${lists.listOf(n) % 3}`, rules)]));
    },
    list: (n) => `<h1>${words(`faculty ${n}`, 3)}</h1>`,
    ...{ label, lead: "index", reach: "list" },
  });
};

/** Reports of faults: one to nine comments, and lists by component. */
const bugs: GoodFamily = ({ random, words }, size) => {
  const [lists, step] = [listed(size, upTo(random, 15, 60)), upTo(random, 1, 40)];
  const root = `/${pick(random, ["bugzilla", "mantis", "tracker"])}`;
  const label = (n: number): string => words(`fault ${n}`, 5);
  return collection(random, lists, {
    itemAt: (n) => `${root}/show_bug.cgi?id=${1 + n * step}`,
    listAt: (n) => `${root}/buglist.cgi?component=${words(`component ${n}`, 1)}${n}`,
    item(n) {
      const at = fixed(`fault ${n}`);
      const comments = numbersTo(1 + at.below(9)).map((k) =>
        words(`on ${n} ${k}`, upTo(at, 3, 60)),
      );
      const status = [pick(at, ["NEW", "FIXED", "WONTFIX"]), pick(at, ["P1", "P2", "P3"])];
      return page(`${1 + n * step}: ${label(n)}`, table(status) + texts(comments));
    },
    list: (n) => page(words(`component ${n}`, 1), `${lists.itemsOf(n).length} bugs found`),
    ...{ label, lead: "index", reach: "list" },
  });
};

/** Mails by month. Each of them quotes the one before it. */
const mails: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [listed(size, upTo(random, 8, 40)), `/pipermail/${letters(random, 5)}`];
  const monthOf = (list: number): string => dayText(Date.UTC(2004, list, 1)).slice(0, 7);
  const textOf = (n: number): string => words(`mail ${n}`, 12 + ((n * 17) % 60));
  const label = (n: number): string => words(`subject ${Math.floor(n / 5)}`, 4);
  return collection(random, lists, {
    itemAt: (n) => `${root}/${monthOf(lists.listOf(n))}/${String(n + 1).padStart(6, "0")}.html`,
    listAt: (n) => `${root}/${monthOf(n)}/thread.html`,
    item(n) {
      const [from, quoted] = [words(`sender ${(n * 11) % 40}`, 2), n % 5 > 0 ? textOf(n - 1) : ""];
      return page(`[dev] ${label(n)}`, texts([from, quoted, textOf(n), `-- ${from}`]));
    },
    list: (n) => `<h1>${monthOf(n)}, by thread</h1>`,
    ...{ label, lead: "pager", reach: "list" },
  });
};

/** A wiki in some languages: an article has the same figures and other words in each. */
const languages: GoodFamily = ({ random, words }, size) => {
  const codes = ["de", "fr", "sv", "pl", "eu"].slice(0, upTo(random, 2, 5));
  const lists = listed(size, Math.ceil(size / codes.length));
  const codeOf = (n: number): string => codes[lists.listOf(n)] ?? "";
  const label = (n: number): string => words(`${codeOf(n)} name ${lists.placeOf(n)}`, 2);
  const itemAt = (n: number): string => `/wiki/${codeOf(n)}/${label(n).replaceAll(" ", "_")}`;
  return collection(random, lists, {
    item(n) {
      const [place, at] = [lists.placeOf(n), fixed(`figures ${lists.placeOf(n)}`)];
      const text = words(`${codeOf(n)} text ${place}`, 10 + ((place * 29) % 140));
      const figures = table([1200 + at.below(800), at.below(90_000), at.below(2_000)]);
      const others = codes.flatMap((_, list) => lists.itemsOf(list)[place] ?? []);
      return page(label(n), figures + texts([text]), others.map(itemAt), "in");
    },
    list: (n) => page(codes[n] ?? "", words(`main page ${codes[n]}`, 25)),
    ...{ itemAt, listAt: (n) => `/wiki/${codes[n]}`, label, lead: "index", reach: "list" },
  });
};

/** A land register: parcels of communes, in numbers. */
const parcels: GoodFamily = ({ random, words }, size) => {
  const [lists, root] = [listed(size, upTo(random, 12, 70)), `/cadastre-${letters(random, 2)}`];
  const label = (n: number): string => `${lists.placeOf(n) * 3 + 1}`;
  return collection(random, lists, {
    itemAt: (n) => `${root}/${3_501 + lists.listOf(n) * 6}/${label(n)}`,
    listAt: (n) => `${root}/${3_501 + n * 6}`,
    item(n) {
      const at = fixed(`parcel ${n}`);
      const corner = (): number[] => [600_000 + at.below(9_000), 200_000 + at.below(9_000)];
      return page(label(n), table(...numbersTo(3 + at.below(4)).map(corner)));
    },
    list: (n) => page(words(`commune ${n}`, 1), `${fixed(`area ${n}`).below(900_000)} m²`),
    ...{ label, lead: "index", reach: "list" },
  });
};

/** Folders of a mirror of packages: names, dates and sizes of files. */
const mirror: GoodFamily = ({ random, words }, size) => {
  const [root, wide] = [`/${pick(random, ["pub", "mirror", "ftp"])}/`, upTo(random, 3, 9)];
  const parent = (n: number): number => Math.floor((n - 1) / wide);
  const pathOf = (n: number): string =>
    n === 0 ? root : `${pathOf(parent(n))}${words(`folder ${n}`, 1)}${n}/`;
  const urls = numbersTo(size).map(pathOf);
  return {
    ...{ urls, entries: urls.slice(0, 1) },
    page(n) {
      const at = fixed(`files ${n}`);
      const nameOf = (k: number): string => `${words(`file ${n} ${k}`, 1)}-${at.below(9)}.tar.gz`;
      const files = numbersTo(1 + at.below(9)).map((k) => [nameOf(k), `${1 + at.below(900)}K`]);
      const folders = [urls[parent(n)] ?? root, ...urls.slice(n * wide + 1, (n + 1) * wide + 1)];
      const into = named(folders, (k) => (k > 0 ? (folders[k]?.split("/").at(-2) ?? "") : ".."));
      return page(`Index of ${pathOf(n)}`, table(...files) + into);
    },
  };
};

/** A comic: a title and half a sentence. Each strip leads to its neighbours and the first. */
const comic: GoodFamily = ({ random, words }, size) => {
  const root = `/${pick(random, ["comic/", "strip-", "archive.php?comic="])}`;
  const urls = numbersTo(size).map((n) => `${root}${n + 1}`);
  return {
    ...{ urls, entries: urls.slice(0, 1) },
    page(n) {
      const near = [0, n - 1, n + 1].flatMap((to) => urls[to] ?? []);
      return page(words(`strip ${n}`, 1 + (n % 4)), words(`over ${n}`, 2 + (n % 9)), near);
    },
  };
};

export const PLACE_GOOD: Readonly<Record<string, GoodFamily>> = {
  ...{ opac, protocols, genealogy, league, courses, bugs },
  ...{ mails, languages, parcels, mirror, comic },
};
