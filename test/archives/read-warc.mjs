/**
 * Reads WARC files with warcio and prints them as JSON: { records: [{ type, fields, offset, length, block }], index: [line] }.
 *
 *   node test/archives/read-warc.mjs <file>
 */
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { CDXIndexer, WARCParser } from "warcio";

const path = process.argv[2];
const records = [];
const parser = new WARCParser(createReadStream(path), { parseHttp: false, keepHeadersCase: true });
for await (const record of parser) {
  const block = Buffer.from(await record.readFully(false)).toString("base64");
  await record.skipFully();
  const fields = Object.fromEntries(record.warcHeaders.headers.entries());
  records.push({ type: record.warcType, url: record.warcTargetURI ?? "", fields, block });
}
const index = [];
const indexer = new CDXIndexer({ format: "cdxj" });
const files = [{ filename: basename(path), reader: createReadStream(path) }];
for await (const entry of indexer.iterIndex(files)) {
  const { urlkey, timestamp, url, mime, status, digest, length, offset } = entry;
  index.push({ urlkey, timestamp, url, mime, status, digest, length, offset });
}
process.stdout.write(JSON.stringify({ records, index }));
