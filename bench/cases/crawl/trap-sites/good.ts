/** Good parts of the held-out sites, after kinds of real ones whose pages have little text of their own, or much of another page's. */
import { dayText, DAY_MS, letters, link, numbersTo, pick } from "../trap-shapes/shape.ts";
import { type Good, type GoodFamily, links, upTo } from "../trap-families/family.ts";

const clean = (text: string): string => text.replaceAll(" ", "-");

/** A manual on one page, and each chapter of it on a page of its own. */
const manual: GoodFamily = ({ words }, size) => {
  const urls = ["/manual/all.html", ...numbersTo(size - 1).map((n) => `/manual/chapter-${n}.html`)];
  const chapter = (n: number): string =>
    `<h2>${words(`chapter ${n}`, 4)}</h2><p>${words(`text of chapter ${n}`, 60)}</p>`;
  return {
    urls,
    entries: [urls[0] ?? "", urls[1] ?? ""],
    page: (n) =>
      n === 0
        ? numbersTo(size - 1)
            .map((at) => chapter(at) + link(urls[at + 1] ?? "", "on its own page"))
            .join("")
        : chapter(n - 1) + links([urls[n + 1] ?? "/manual/all.html", "/manual/all.html"]),
  };
};

/** A mailing list: each message quotes what it answers, and adds a little. */
const mails: GoodFamily = ({ random, words }, size) => {
  const months = Math.max(1, Math.floor(size / 15));
  const count = size - months;
  const parentOf = numbersTo(count).map((n) => (n % 4 === 0 ? -1 : random.below(n)));
  const monthAt = (n: number): string =>
    `/pipermail/${dayText(Date.UTC(2_009, n, 1)).slice(0, 7)}/`;
  const mailAt = (n: number): string =>
    `${monthAt(Math.floor(n / 15))}${String(n).padStart(6, "0")}.html`;
  const urls = [...numbersTo(count).map(mailAt), ...numbersTo(months).map(monthAt)];
  const said = (n: number): string => words(`mail ${n}`, 14 + ((n * 37) % 40));
  return {
    urls,
    entries: numbersTo(months).map(monthAt),
    page(n) {
      if (n >= count) {
        const within = urls.filter(
          (url) => url.startsWith(urls[n] ?? "-") && url.endsWith(".html"),
        );
        return `<h1>Archive</h1>${links(within, "message")}`;
      }
      const parent = parentOf[n] ?? -1;
      const quote = parent < 0 ? "" : `<blockquote>${said(parent)}</blockquote>`;
      const near = [n - 1, n + 1].filter((to) => to >= 0 && to < count).map(mailAt);
      const subject = words(`subject ${n % 9}`, 4);
      return `<h1>${subject}</h1>${quote}<p>${said(n)}</p>${links(near, "message")}`;
    },
  };
};

/** Matches between a few teams: names, a day, a score. */
const matches: GoodFamily = ({ words }, size) => {
  const teams = numbersTo(16).map((n) => words(`team ${n}`, 1));
  const rounds = Math.max(1, Math.floor(size / 9));
  const count = size - rounds;
  const [home, away] = [(n: number) => teams[n % 16], (n: number) => teams[(n * 5 + 3) % 16]];
  const day = (n: number): string => dayText(Date.UTC(2_011, 0, 1) + n * DAY_MS);
  const matchAt = (n: number): string =>
    `/match/${day(n).replaceAll("-", "/")}/${home(n)}-${away(n)}`;
  const urls = [
    ...numbersTo(count).map(matchAt),
    ...numbersTo(rounds).map((n) => `/round/${n + 1}`),
  ];
  return {
    urls,
    entries: [`/round/1`],
    page(n) {
      if (n >= count) {
        const round = n - count;
        const within = numbersTo(8)
          .map((at) => round * 8 + at)
          .filter((at) => at < count);
        const near = [round, round + 2].filter((to) => to > 0 && to <= rounds);
        const rest = numbersTo(count).slice(rounds * 8);
        const all = [...within, ...(round === rounds - 1 ? rest : [])].map(matchAt);
        return `<h1>Round</h1>${links(all, "match")}${links(near.map((to) => `/round/${to}`))}`;
      }
      const goals = numbersTo(3).map((at) => {
        const player = words(`player ${(n * 3 + at * 5) % 170}`, 2);
        return `<p>${(n * 7 + at * 11) % 90}. minute ${player}</p>`;
      });
      const score = `${n % 5} : ${(n * 3) % 4}`;
      const referee = words(`referee ${n % 23}`, 2);
      const crowd = `${4_000 + ((n * 7_919) % 30_000)} visitors, referee ${referee}`;
      return `<h1>${home(n)} ${away(n)}</h1><p>${score}</p>${goals.join("")}<p>${crowd}</p>`;
    },
  };
};

/** Persons of a family tree, by number. */
const persons: GoodFamily = ({ words }, size) => {
  const urlAt = (n: number): string => `/family/I${String(n).padStart(4, "0")}.html`;
  const name = (n: number): string =>
    [`given ${n % 40}`, `given ${(n * 7) % 31}`, `house ${n % 12}`]
      .map((of) => words(of, 1))
      .join(" ");
  return {
    urls: numbersTo(size).map(urlAt),
    entries: [urlAt(0)],
    page(n) {
      const [father, born] = [n === 0 ? -1 : Math.floor((n - 1) / 3), 1_700 + ((n * 31) % 290)];
      const children = [3 * n + 1, 3 * n + 2, 3 * n + 3].filter((child) => child < size);
      const town = words(`town ${(n * 13) % 60}`, 2);
      const lines = [
        `<p>born ${1 + (n % 28)} ${words(`month ${n % 12}`, 1)} ${born} in ${town}</p>`,
        `<p>died ${born + 20 + ((n * 17) % 70)}, ${words(`trade ${(n * 11) % 50}`, 1)}</p>`,
        ...(father < 0 ? [] : [`<p>child of ${link(urlAt(father), name(father))}</p>`]),
        ...children.map((child) => `<p>parent of ${link(urlAt(child), name(child))}</p>`),
      ];
      return `<h1>${name(n)}</h1>${lines.join("")}`;
    },
  };
};

/** Recipes: things from one small store, in other numbers, and some lines of how. */
const recipes: GoodFamily = ({ random, words }, size) => {
  const things = numbersTo(50).map((n) => words(`thing to eat ${n}`, 1));
  const steps = numbersTo(30).map((n) => words(`step ${n}`, 9));
  const urlAt = (n: number): string => `/recipes/${clean(words(`dish ${n}`, 2))}-${n}`;
  const urls = numbersTo(size).map(urlAt);
  const isBare = random.below(2) === 0;
  return {
    urls,
    entries: [urlAt(0)],
    page(n) {
      const list = numbersTo(7).map(
        (at) => `<li>${(n * 13 + at * 7) % 90} g ${things[(n * (at + 3) + at * 17) % 50]}</li>`,
      );
      const how = numbersTo(4).map((at) => `<p>${steps[(n * (at + 1) + at * 5) % 30]}</p>`);
      const own = isBare ? "" : `<p>${words(`hint ${n}`, 18)}</p>`;
      const next = [2 * n + 1, 2 * n + 2].filter((to) => to < size).map(urlAt);
      return `<h1>${words(`dish ${n}`, 2)}</h1>${list.join("")}${how.join("")}${own}${links(next)}`;
    },
  };
};

/** Sections of a law: a number, a line or two, the next and the one before. */
const law: GoodFamily = ({ random, words }, size) => {
  const per = upTo(random, 6, 20);
  const urlAt = (n: number): string => `/code/title-${Math.floor(n / per) + 1}/sec-${n + 1}`;
  const frame = words("frame of law", upTo(random, 10, 70));
  const section = (n: number): string => words(`section ${n}`, 8 + ((n * 29) % 60));
  return {
    urls: numbersTo(size).map(urlAt),
    entries: [urlAt(0)],
    page: (n) =>
      `<h1>§ ${n + 1}</h1><p>${section(n)}</p><p>${frame}</p>${links(
        [n - 1, n + 1, n + per].filter((to) => to >= 0 && to < size).map(urlAt),
      )}`,
  };
};

/** A dictionary: a word, what it means in a few, an index by letter. */
const dictionary: GoodFamily = ({ random }, size) => {
  const names = numbersTo(size - 1).map(() => letters(random, 4 + random.below(6)));
  const meant = names.map(() => numbersTo(5).map(() => letters(random, 3 + random.below(5))));
  const root = `/${pick(random, ["word/", "define?term=", "dict/en/"])}`;
  const urls = ["/words.html", ...names.map((name) => root + name)];
  const back = links(["/words.html"]);
  return {
    urls,
    entries: ["/words.html"],
    page: (n) =>
      n === 0
        ? `<h1>Words</h1>${names.map((name, at) => link(urls[at + 1] ?? "", name)).join("")}`
        : `<h1>${names[n - 1]}</h1><p>noun: ${meant[n - 1]?.join(" ")}</p>${back}`,
  };
};

/** Questions under tags, in lists by page that show the first words of each. */
const questions: GoodFamily = ({ words }, size): Good => {
  const lists = Math.max(1, Math.floor(size / 8));
  const count = size - lists;
  const per = Math.ceil(count / lists);
  const listAt = (n: number): string => `/questions?tab=newest${n === 0 ? "" : `&page=${n + 1}`}`;
  const urlAt = (n: number): string =>
    `/questions/${70_000 + n * 13}/${clean(words(`ask ${n}`, 4))}`;
  const urls = [...numbersTo(count).map(urlAt), ...numbersTo(lists).map(listAt)];
  return {
    urls,
    entries: [listAt(0)],
    page(n) {
      if (n < count) {
        const answers = numbersTo(1 + (n % 3)).map(
          (at) => `<p>${words(`reply ${n} ${at}`, 30)}</p>`,
        );
        const head = `<h1>${words(`ask ${n}`, 4)}</h1>`;
        return `${head}<p>${words(`question ${n}`, 40)}</p>${answers.join("")}`;
      }
      const list = n - count;
      const shown = numbersTo(per)
        .map((at) => list * per + at)
        .filter((at) => at < count)
        .map(
          (at) => `${link(urlAt(at), words(`ask ${at}`, 4))}<p>${words(`question ${at}`, 12)}</p>`,
        );
      const near = [list - 1, list + 1].filter((to) => to >= 0 && to < lists).map(listAt);
      return `<h1>Questions</h1>${shown.join("")}${links(near, "page")}`;
    },
  };
};

/** Departures of lines at stops: names of a few stops, and times. */
const departures: GoodFamily = ({ words }, size) => {
  const urlAt = (n: number): string => `/line/${1 + (n % 12)}/stop/${1 + Math.floor(n / 12)}`;
  return {
    urls: numbersTo(size).map(urlAt),
    entries: [urlAt(0)],
    page(n) {
      const times = numbersTo(14).map((at) => {
        const minute = (300 + n * 17 + at * (41 + (n % 7))) % 1_440;
        return `<p>${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, "0")}</p>`;
      });
      const stop = words(`stop ${Math.floor(n / 12)}`, 2);
      const to = words(`stop ${(n * 5 + 1) % 40}`, 2);
      const near = [n + 1, n + 12].filter((next) => next < size).map(urlAt);
      return `<h1>${stop}</h1><p>towards ${to}</p>${times.join("")}${links(near, "on")}`;
    },
  };
};

/** Releases of packages: one text a package, and what each release changed. */
const releases: GoodFamily = ({ words }, size) => {
  const per = 6;
  const nameOf = (n: number): string => clean(words(`package ${Math.floor(n / per)}`, 2));
  const urlAt = (n: number): string => `/package/${nameOf(n)}/${Math.floor(n / per)}.${n % per}.0`;
  return {
    urls: numbersTo(size).map(urlAt),
    entries: [urlAt(0)],
    page(n) {
      const own = Math.floor(n / per) * per;
      const others = numbersTo(per)
        .map((at) => own + at)
        .filter((at) => at < size);
      const next = own + per < size ? [urlAt(own + per)] : [];
      const about = words(`about package ${own}`, 50);
      const text = `${about}</p><p>changed: ${words(`release ${n}`, 16)}`;
      const all = [...others.map(urlAt), ...next];
      return `<h1>${nameOf(n)}</h1><p>${text}</p>${links(all, "version")}`;
    },
  };
};

export const GOOD_PARTS: Readonly<Record<string, GoodFamily>> = {
  ...{ manual, mails, matches, persons, recipes, law, dictionary, questions, departures },
  ...{ releases },
};
