/**
 * The public suffixes of tldts as one text, four fifths of their bytes in the package: labels in the order of letters, each as what it has in common
 * with the one before and the rest. Where they are read, they are put back into the order of their hashes, which is that of tldts.
 *
 *   node: com → 0, org → 5 ─ packTrie ─▶ "0com,0org=5"      nodes between ";"
 *
 *   I1  What `unpackTrie` makes of it is the trie: packing fails else.
 */
import { deepStrictEqual } from "node:assert";
import { packText } from "./pack-text.mjs";

/** The source of a module that exports the trie. */
export function packTrie(trie) {
  const { edgeStart, edgeLength, edgeChild, labelText, nodeFlags } = trie;
  const nodes = [];
  let offset = 0;
  for (let node = 0; node < nodeFlags.length; node++) {
    const edges = [];
    for (let edge = edgeStart[node]; edge < edgeStart[node + 1]; edge++) {
      const end = offset + edgeLength[edge];
      edges.push([labelText.slice(offset, end), edgeChild[edge]]);
      offset = end;
    }
    nodes.push(edges.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  const text = nodes.map(packNode).join(";");
  const flags = nodeFlags.join("");
  const made = unpackTrie(text, flags);
  for (const [name, value] of Object.entries(made)) deepStrictEqual(value, trie[name]);
  const { rulesRoot, exceptionsRoot } = trie;
  const call = `(${unpackTrie})(${packText(text, "zlib")},${packText(flags, "zlib")})`;
  return `import zlib from "node:zlib";
export const {edgeStart,edgeLength,edgeChild,labelText,nodeFlags}=${call};
export const rulesRoot=${rulesRoot},exceptionsRoot=${exceptionsRoot};`;
}

function packNode(edges) {
  let before = "";
  return edges
    .map(([label, child]) => {
      if (/[,;=]/.test(label)) throw new Error(`${label} (expected: no letter that divides)`);
      let same = 0;
      while (same < 9 && same < label.length && label[same] === before[same]) same++;
      before = label;
      return same + label.slice(same) + (child === 0 ? "" : `=${child.toString(36)}`);
    })
    .join();
}

/** Its source is in the package: it uses nothing of this file. */
function unpackTrie(text, flags) {
  const [starts, lengths, children] = [[0], [], []];
  let labels = "";
  const hashOf = (label) => {
    let hash = 5381;
    for (let at = label.length - 1; at >= 0; at--) hash = (hash * 33) ^ label.charCodeAt(at);
    return hash >>> 0;
  };
  for (const node of text.split(";")) {
    let before = "";
    const edges = (node === "" ? [] : node.split(",")).map((edge) => {
      const [rest, child = "0"] = edge.split("=");
      before = before.slice(0, Number(rest[0])) + rest.slice(1);
      return [before, Number.parseInt(child, 36), hashOf(before)];
    });
    for (const [label, child] of edges.sort((a, b) => a[2] - b[2])) {
      labels += label;
      lengths.push(label.length);
      children.push(child);
    }
    starts.push(lengths.length);
  }
  return {
    edgeStart: Uint16Array.from(starts),
    edgeLength: Uint8Array.from(lengths),
    edgeChild: Uint16Array.from(children),
    labelText: labels,
    nodeFlags: Uint8Array.from(flags),
  };
}
