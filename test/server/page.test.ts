/** The live page in a real browser, light and dark, on a desk and on a phone. */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { faultsOf, launchBrowser, LOOKS, WAIT_MS } from "../support/browser.ts";
import { connect, found, known, serving } from "./client.ts";

/** Screenshots, for people to look at. */
const SHOTS = fileURLToPath(new URL("../../build/screenshots/", import.meta.url));
const EVIL = `<img src=x onerror="document.title='taken'">`;

it("shows a crawl, sorts, searches, explains and steers, by mouse and by keyboard", async (context) => {
  const browser = await launchBrowser(context);
  onTestFinished(() => browser.close());
  mkdirSync(SHOTS, { recursive: true });
  const { httpPort, port, token } = await serving();
  const client = connect(port);
  const urls = Array.from({ length: 300 }, (_, n) => found(`http://host${n % 12}.example/${n}`));
  await client.put(
    ...urls,
    found(`http://evil.example/${EVIL}`, { key: EVIL }),
    known("http://host1.example/1", 0),
  );
  await client.get({ max_urls_per_queue: 2, max_queues: 5 });
  for (const { colorScheme, width } of LOOKS) {
    const tab = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    tab.setDefaultTimeout(WAIT_MS);
    const words: string[] = [];
    tab.on("console", (message) => words.push(message.text()));
    tab.on("pageerror", (cause) => words.push(String(cause)));
    await tab.goto(`http://127.0.0.1:${httpPort}/#token=${token}`);
    await tab.waitForSelector("#hosts tbody tr:nth-child(12)");
    expect(await faultsOf(tab), `${colorScheme} ${width}`).toEqual([]);
    expect(words).toEqual([]);
    expect(await tab.title()).toBe("Outrider");
    expect(new URL(tab.url()).hash).toBe("");
    const shown = await tab.textContent("#hosts");
    expect(shown).toContain(EVIL);
    await tab.screenshot({ path: `${SHOTS}page-${colorScheme}-${width}.png`, fullPage: true });
    // However many hosts there are, what follows them is near.
    expect(await tab.$eval("#hosts", (table) => table.parentElement?.clientHeight)).toBeLessThan(
      700,
    );
    if (width > 1_000 && colorScheme === "light") await steerBy(tab);
    // The wrong token is refused.
    expect(words.filter((word) => !word.includes("401"))).toEqual([]);
    await tab.close();
  }
  expect(await client.get()).toEqual([]); // the page has paused it
});

it("shows how much of a host it has read, and that its server has gone, which is no error of the page", async (context) => {
  const browser = await launchBrowser(context);
  onTestFinished(() => browser.close());
  const server = await serving();
  const client = connect(server.port);
  await client.put(found("http://a.com/"));
  const tab = await browser.newPage();
  tab.setDefaultTimeout(WAIT_MS);
  const faults: string[] = [];
  tab.on("pageerror", (cause) => faults.push(String(cause)));
  await tab.goto(`http://127.0.0.1:${server.httpPort}/`);
  await holds(tab, `document.getElementById("status")?.textContent === "running"`);
  const pending = (): Promise<string | null> => tab.textContent("#hosts td:nth-child(2)");
  expect(await pending()).toBe("1");
  await client.put(...Array.from({ length: 3_000 }, (_, n) => found(`http://a.com/${n}`)));
  await holds(tab, `document.querySelector("#hosts td:nth-child(2)")?.textContent === "2,000+"`);
  await server.close();
  await holds(tab, `document.getElementById("status")?.className === "bad"`);
  await tab.fill("#url", "http://a.com/");
  await tab.press("#url", "Enter");
  await holds(tab, `document.getElementById("answer")?.textContent === "Failed to fetch"`);
  expect(faults).toEqual([]);
});

/** Waits until an expression is true in the page, whose policy allows no polling by text. */
async function holds(tab: Page, expression: string): Promise<void> {
  for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline; ) {
    if ((await tab.evaluate(expression)) === true) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${expression}: not within ${WAIT_MS} ms`);
}

async function steerBy(tab: Page): Promise<void> {
  const first = (): Promise<string | null> => tab.textContent("#hosts tbody tr td");
  const pending = await tab.$("#hosts th:nth-child(2) button");
  await pending?.focus();
  await tab.keyboard.press("Enter");
  const sortOf = (): Promise<string | null | undefined> =>
    tab.$eval("#hosts th:nth-child(2)", (cell) => cell.getAttribute("aria-sort"));
  expect(await sortOf()).toBe("descending");
  await tab.keyboard.press("Enter");
  expect(await sortOf()).toBe("ascending");
  await tab.fill("#search", "host11");
  await holds(tab, `document.querySelectorAll("#hosts tbody tr").length === 1`);
  expect(await first()).toBe("host11.example");
  await tab.fill("#url", "http://host1.example/1");
  await tab.press("#url", "Enter");
  await tab.waitForSelector("#answer:not([hidden])");
  expect(await tab.textContent("#answer")).toContain('"verdict"');
  await tab.fill("#host", "host11.example");
  await tab.focus('[data-act="block"]');
  await tab.keyboard.press("Space");
  await holds(tab, `document.getElementById("said")?.textContent === "Block: done"`);
  await holds(tab, `document.querySelector("#hosts td:nth-child(4)")?.textContent === "blocked"`);
  await tab.focus('[data-act="pause"]');
  await tab.keyboard.press("Enter");
  await holds(tab, `document.getElementById("status")?.textContent === "paused"`);
  // Enter sends no form: the policy forbids it, and the browser would complain.
  await tab.focus("#token");
  await tab.keyboard.press("Enter");
  await tab.fill("#token", "wrong");
  await tab.click('[data-act="resume"]');
  await holds(tab, `document.getElementById("said")?.className === "bad"`);
}
