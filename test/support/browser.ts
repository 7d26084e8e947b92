/** Opens pages in the Chromium of this machine, at a reader's width and in a reader's colours. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { type Skipper, skipUnless } from "./skip.ts";

/** A Chromium of this machine, under the names that distributions use. */
function chromium(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  return folders.flatMap((each) => names.map((name) => join(each, name))).find(existsSync);
}

/** How long a browser may take to start, and a page to show something: a busy machine is no fault. */
export const WAIT_MS = 180_000;

const BROWSER_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const LOOKS = [
  { colorScheme: "light", width: 1100 },
  { colorScheme: "dark", width: 1100 },
  { colorScheme: "light", width: 320 },
  { colorScheme: "dark", width: 360 },
] as const;

export interface Sight {
  readonly look: string;
  /** What the page printed to the console, threw, or requested from the network. */
  readonly words: readonly string[];
  readonly faults: readonly string[];
}

/** A browser for pages that a server has. Without one the test is skipped. */
export async function launchBrowser(context: Skipper): Promise<Browser> {
  const executablePath = chromium();
  skipUnless(context, executablePath !== undefined, "no chromium on the PATH");
  const { chromium: launcher } = await import("playwright-core");
  return await launcher.launch({ executablePath, args: BROWSER_FLAGS, timeout: WAIT_MS });
}

/** A page as a reader sees it, wide and on a phone, light and dark. Without a browser the test is skipped. */
export async function sightsOf(html: string, context: Skipper): Promise<Sight[]> {
  const executablePath = chromium();
  skipUnless(context, executablePath !== undefined, "no chromium on the PATH");
  const { chromium: launcher } = await import("playwright-core");
  const folder = mkdtempSync(join(tmpdir(), "outrider-report-"));
  const path = join(folder, "report.html");
  writeFileSync(path, html);
  const browser = await launcher.launch({ executablePath, args: BROWSER_FLAGS, timeout: WAIT_MS });
  const sights: Sight[] = [];
  try {
    for (const { colorScheme, width } of LOOKS) {
      const tab = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
      const words: string[] = [];
      tab.on("console", (message) => words.push(message.text()));
      tab.on("pageerror", (cause) => words.push(String(cause)));
      tab.on("request", (request) => {
        if (!request.url().startsWith("file:")) words.push(request.url());
      });
      await tab.goto(pathToFileURL(path).href);
      sights.push({ look: `${colorScheme} ${width}`, words, faults: await faultsOf(tab) });
      await tab.close();
    }
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return sights;
}

/** The report of a page without faults. */
export function calmSights(sights: readonly Sight[]): Sight[] {
  return sights.map(({ look }) => ({ look, words: [], faults: [] }));
}

/** Faults that a reader would notice: the page measures itself. */
export function faultsOf(tab: Page): Promise<string[]> {
  return tab.evaluate(`(() => {
    const faults = [];
    if (document.documentElement.scrollWidth > innerWidth) faults.push("scrolls sideways");
    const boxOf = (node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getBoundingClientRect();
    };
    const luminance = (color) => {
      const parts = color.match(/[\\d.]+/g).slice(0, 3).map((each) => {
        const part = each / 255;
        return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const groundOf = (node) => {
      for (let at = node; at; at = at.parentElement) {
        const color = getComputedStyle(at).backgroundColor;
        if (!/, 0\\)$/.test(color)) return color;
      }
      return "rgb(255, 255, 255)";
    };
    for (const plot of document.querySelectorAll(".plot")) {
      if (plot.getBoundingClientRect().height > 400) faults.push("a plot that fills the screen");
    }
    for (const axis of document.querySelectorAll(".x, .y")) {
      const boxes = [...axis.children].map((each) => [each.textContent, boxOf(each)]);
      boxes.forEach(([name, a], at) => {
        for (const [other, b] of boxes.slice(at + 1)) {
          const isApart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
          if (!isApart) faults.push("overlap: " + name + " and " + other);
        }
      });
    }
    const seen = "h1, h2, p, dt, dd, td, .x span, .y span, .value, .name, .keys span, footer";
    for (const node of document.querySelectorAll(seen)) {
      if (node.textContent.trim() === "") continue;
      const frame = (node.closest(".card, .tile") ?? document.body).getBoundingClientRect();
      const box = node.classList.contains("name") ? node.getBoundingClientRect() : boxOf(node);
      const text = node.textContent.slice(0, 30);
      const isCut = box.left < frame.left || box.right > frame.right;
      if (isCut && !node.closest(".scroll")) faults.push("cut off: " + text);
      const [a, b] = [getComputedStyle(node).color, groundOf(node)].map(luminance);
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5) faults.push("contrast " + contrast.toFixed(2) + ": " + text);
    }
    return faults;
  })()`);
}
