/**
 * The live page: one document, one script, no library. Whatever comes from a crawl is set as text, never as markup, and the
 * policy of the server allows no other script.
 */
export const PAGE_HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Outrider</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script src="/page.js" type="module"></script>
<header>
  <h1>Outrider</h1>
  <label>Frontier <select id="frontier"></select></label>
  <span id="status" class="soft">connecting</span>
</header>
<main>
  <p id="said" role="status" aria-live="polite"></p>
  <h2>Now</h2>
  <dl class="tiles" id="tiles"></dl>
  <h2 id="rate-title">Pages a second, the last five minutes: <span id="rate">0</span></h2>
  <svg id="chart" viewBox="0 0 300 100" preserveAspectRatio="none" role="img"
    aria-labelledby="rate-title">
    <polyline id="line" points=""></polyline>
  </svg>
  <h2>Times</h2>
  <div class="scroll" tabindex="0"><table><caption>Times in milliseconds</caption><thead><tr>
    <th scope="col">What</th>
    <th scope="col">Count</th><th scope="col">Mean</th><th scope="col">50 %</th>
      <th scope="col">90 %</th>
    <th scope="col">99 %</th><th scope="col">Longest</th></tr></thead><tbody id="times"></tbody>
      </table></div>
  <h2>Hosts</h2>
  <form>
    <label class="grow">Find one of these hosts, 200 at most
      <input id="search" type="search" autocomplete="off"></label></form>
  <div class="scroll" tabindex="0">
    <table id="hosts"><caption>Hosts with work, and what keeps them</caption>
    </table></div>
  <h2>Rules</h2>
  <div class="scroll" tabindex="0">
    <table id="rules"><caption>Records by rule</caption></table></div>
  <h2>Failures</h2>
  <div class="scroll" tabindex="0">
    <table id="reasons"><caption>Failures by kind</caption></table></div>
  <div class="scroll" tabindex="0"><table id="failed"><caption>Failed URLs</caption></table></div>
  <h2>Explain a URL</h2>
  <form id="explain"><label class="grow">URL <input id="url" type="url" required></label>
    <button>Explain</button></form>
  <pre id="answer" hidden></pre>
  <h2>Steer</h2>
  <form id="steer">
    <label class="grow">Token <input id="token" type="password" autocomplete="off"></label>
    <button type="button" data-act="pause">Pause</button>
    <button type="button" data-act="resume">Resume</button>
    <button type="button" data-act="requeue">Requeue failures</button>
  </form>
  <form id="host-form">
    <label class="grow">Host <input id="host" required></label>
    <label>Minutes <input id="minutes" type="number" min="0" step="any" value="10"></label>
    <button type="button" data-act="block">Block</button>
    <label>Delay in ms <input id="delay" type="number" min="0" value="1000"></label>
    <button type="button" data-act="delay">Set delay</button>
  </form>
</main>
</html>
`;

export const PAGE_JS = `
const $ = (id) => document.getElementById(id);
const make = (tag, text, name) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = String(text);
  if (name !== undefined) made.className = name;
  return made;
};
const whole = new Intl.NumberFormat("en");
const number = (value) =>
  Number.isFinite(value) ? whole.format(Math.round(value * 10) / 10) : "–";
const bytes = (value) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  for (; value >= 1024 && at < 4; at++) value /= 1024;
  return number(value) + " " + units[at];
};
const ago = (ms, nowMs) => {
  if (!ms) return "never";
  const seconds = Math.round((nowMs - ms) / 1000);
  if (seconds === 0) return "now";
  return seconds < 0 ? "in " + number(-seconds) + " s" : number(seconds) + " s ago";
};

const fragment = new URLSearchParams(location.hash.slice(1)).get("token");
if (fragment) {
  sessionStorage.setItem("token", fragment);
  history.replaceState(null, "", location.pathname);
}
$("token").value = sessionStorage.getItem("token") ?? "";
$("token").addEventListener("input", () => sessionStorage.setItem("token", $("token").value));
const headers = () => ({ authorization: "Bearer " + $("token").value });

/** A table whose columns sort. The header stays, so that the keyboard keeps its place. */
const sorts = new Map();
function fill(id, columns, rows) {
  const table = $(id);
  let body = table.tBodies[0];
  if (!body) {
    const line = table.createTHead().insertRow();
    columns.forEach(([title], at) => {
      const head = make("th");
      head.scope = "col";
      const button = make("button", title);
      button.type = "button";
      button.addEventListener("click", () => {
        const { at: before, down } = sorts.get(id) ?? {};
        sorts.set(id, { at, down: before === at ? !down : at > 0 });
        show();
      });
      head.append(button);
      line.append(head);
    });
    body = table.createTBody();
  }
  const sort = sorts.get(id);
  [...table.tHead.rows[0].cells].forEach((cell, at) => {
    const way = sort?.down ? "descending" : "ascending";
    cell.setAttribute("aria-sort", sort?.at === at ? way : "none");
  });
  if (sort) {
    const read = columns[sort.at][1];
    const order = (a, b) => (read(a) < read(b) ? -1 : read(a) > read(b) ? 1 : 0);
    rows = [...rows].sort((a, b) => (sort.down ? order(b, a) : order(a, b)));
  }
  const made = rows.map((row) => {
    const line = make("tr");
    for (const [, read, text, name] of columns) {
      line.append(make("td", text ? text(row) : read(row), name));
    }
    return line;
  });
  if (made.length === 0) {
    const cell = make("td", "none", "soft");
    cell.colSpan = columns.length;
    made.push(make("tr"));
    made[0].append(cell);
  }
  body.replaceChildren(...made);
}

let latest;
const history5 = new Map();
function show() {
  if (!latest) return;
  const select = $("frontier");
  const names = latest.frontiers.map(({ name }) => name);
  if (names.join("\\n") !== [...select.options].map(({ value }) => value).join("\\n")) {
    const before = select.value;
    select.replaceChildren(...names.map((name) => new Option(name, name)));
    if (names.includes(before)) select.value = before;
  }
  const look = latest.frontiers.find(({ name }) => name === select.value);
  $("status").textContent = look ? look.report.status : "no frontier yet";
  $("status").className = look?.report.status === "running" ? "good" : "soft";
  if (!look) return;
  showTiles(look);
  showChart(select.value);
  showTimes(look.report.latency);
  showTables(look);
}
function showTiles({ report, nextDueAt }) {
  const { memory, durability, rates } = report;
  const tiles = [
    ["Pending", number(report.pending)],
    ["Waiting", number(report.waiting)],
    ["In process", number(report.leased)],
    ["Done", number(report.done)],
    ["Failed", number(report.failed)],
    ["Pushed a second", number(rates.pushed)],
    ["Leased a second", number(rates.leased)],
    ["Duplicates", number(report.duplicate)],
    ["Next lease", nextDueAt ? ago(nextDueAt, latest.nowMs) : "now"],
    ["Memory", bytes(memory.offHeapBytes + memory.heapBytes)],
    ["Spilled to disk", bytes(memory.spilledBytes)],
    ["Journal", bytes(durability.journalBytes)],
    ["Snapshot", ago(durability.snapshotAt, latest.nowMs)],
    ["Durable", ago(durability.flushedAt, latest.nowMs)],
  ];
  $("tiles").replaceChildren(
    ...tiles.map(([title, text]) => {
      const tile = make("div");
      tile.append(make("dt", title), make("dd", text));
      return tile;
    }),
  );
}
function showChart(name) {
  const points = history5.get(name) ?? [];
  const most = Math.max(1, ...points);
  const places = points.map((value, at) => {
    return (300 - points.length + at) + "," + (98 - (value / most) * 94);
  });
  $("line").setAttribute("points", places.join(" "));
  $("rate").textContent = number(points.at(-1) ?? 0);
}
function showTimes({ leases, fetches }) {
  const row = (title, { count, mean, p50, p90, p99, max }) => {
    const line = make("tr");
    const head = make("th", title);
    head.scope = "row";
    const cells = [count, mean, p50, p90, p99, max].map((value) => make("td", number(value)));
    line.append(head, ...cells);
    return line;
  };
  $("times").replaceChildren(row("Lease to result", leases), row("Fetch", fetches));
}
function showTables({ hosts, failed, isCut, report }) {
  const wanted = $("search").value.toLowerCase();
  fill("hosts", [
    ["Host", (row) => row.key, undefined, "wide"],
    ["Pending", (row) => row.pending, (row) => number(row.pending) + (isCut ? "+" : "")],
    ["In process", (row) => row.leased],
    ["Why", (row) => row.why],
    ["Ready", (row) => Math.max(row.readyAt, row.blockedUntil), (row) => {
      const at = Math.max(row.readyAt, row.blockedUntil);
      return at > latest.nowMs ? ago(at, latest.nowMs) : "now";
    }],
    ["Delay in ms", (row) => row.delayMs, (row) => number(row.delayMs)],
    ["Failures in a row", (row) => row.failures],
    ["Answers well, of 100", (row) => row.score ?? 100, (row) => row.score ?? "–"],
  ], hosts.filter(({ key }) => key.toLowerCase().includes(wanted)));
  fill("rules", [
    ["Rule", (row) => row[0], undefined, "wide"],
    ...["pending", "leased", "done", "failed", "served"].map((name) => [
      name[0].toUpperCase() + name.slice(1), (row) => row[1][name], (row) => number(row[1][name]),
    ]),
  ], Object.entries(report.rules));
  fill("reasons", [
    ["Kind", (row) => row[0], undefined, "wide"],
    ["Failed", (row) => row[1], (row) => number(row[1])],
  ], Object.entries(report.reasons.failed));
  fill("failed", [
    ["URL", (row) => row.url, undefined, "wide"],
    ["Why", (row) => row.reason, undefined, "wide"],
    ["When", (row) => row.atMs, (row) => ago(row.atMs, latest.nowMs)],
  ], failed);
}
$("frontier").addEventListener("change", show);
$("search").addEventListener("input", show);
for (const form of document.forms) {
  form.addEventListener("submit", (event) => event.preventDefault());
}

const say = (text, isBad) => {
  $("said").textContent = text;
  $("said").className = isBad ? "bad" : "";
};
for (const button of document.querySelectorAll("[data-act]")) {
  button.addEventListener("click", async () => {
    const body = { frontier: $("frontier").value };
    const { act } = button.dataset;
    if (act === "block" || act === "delay") {
      if (!$("host").reportValidity()) return;
      body.host = $("host").value;
      body.untilMs = Date.now() + Number($("minutes").value) * 60000;
      body.delayMs = Number($("delay").value);
    }
    const { ok, text } = await ask("/api/" + act, { method: "POST", body: JSON.stringify(body) });
    say(button.textContent + ": " + (ok ? "done" : text), !ok);
  });
}
$("explain").addEventListener("submit", async () => {
  const query = new URLSearchParams({ frontier: $("frontier").value, url: $("url").value });
  const { ok, text } = await ask("/api/explain?" + query);
  $("answer").hidden = false;
  $("answer").textContent = ok ? JSON.stringify(JSON.parse(text), null, 2) : text;
});
const ask = (path, more) =>
  fetch(path, { ...more, headers: headers() }).then(
    async (answer) => ({ ok: answer.ok, text: await answer.text() }),
    (cause) => ({ ok: false, text: cause.message }),
  );

/** Server-sent events by fetch, which can carry the token. */
async function listen() {
  const answer = await fetch("/api/events", { headers: headers() });
  if (!answer.ok) throw new Error(await answer.text());
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const events = rest.split("\\n\\n");
    rest = events.pop();
    for (const event of events) if (event.startsWith("data: ")) take(JSON.parse(event.slice(6)));
  }
}
function take(looks) {
  latest = looks;
  for (const { name, report } of looks.frontiers) {
    const points = history5.get(name) ?? [];
    points.push(report.rates.done);
    history5.set(name, points.slice(-300));
  }
  show();
}
async function run() {
  for (;;) {
    try {
      await listen();
      $("status").textContent = "the server ended the connection";
    } catch (cause) {
      $("status").textContent = cause.message.trim();
    }
    $("status").className = "bad";
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}
run();
`;
