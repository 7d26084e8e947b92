/** Scrapy on the synthetic web: a spider in a process of its own, whose start is not counted. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Course, Crawled } from "../crawler.ts";
import { ROOT } from "../../harness/machine.ts";
import { pythonOf } from "../python.ts";

interface Answer {
  readonly seconds: number;
  readonly titles: Record<string, string>;
}

export async function runScrapy({ seed, concurrency }: Course): Promise<Crawled> {
  const script = join(ROOT, "bench/peers/scrapy/crawl.py");
  const words = [script, seed, String(concurrency)];
  const child = spawn(pythonOf("scrapy") as string, words, {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`scrapy: ended with ${code}`);
  const { seconds, titles } = JSON.parse(output) as Answer;
  return { titles: new Map(Object.entries(titles)), seconds };
}
