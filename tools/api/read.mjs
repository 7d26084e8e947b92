/**
 * Reads the public surface out of the sources: every export of every entry, its members, and what their comments say.
 *
 *   src/{index,pool,worker,crawl}.ts ─▶ TypeScript's checker ─▶ entries ─┬─▶ Markdown (write.mjs)
 *                                                                        └─▶ what is missing (problemsOf)
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * @typedef {{ text: string, defaultValue?: string, examples: string[] }} Doc
 * @typedef {{ name: string, type: string, isOptional: boolean, isGiven: boolean, doc: Doc }} Property
 * @typedef {{ name: string, signatures: string[], doc: Doc, options: Property[] }} Method
 * @typedef {{ name: string, kind: string, code: string | undefined, doc: Doc, bases: string[], properties: Property[], methods: Method[], origin: string }} Symbol
 * @typedef {{ name: string, doc: string, symbols: Symbol[] }} Entry
 */

/** A longer signature has a line for each parameter. */
const SIGNATURE_COLUMNS = 60;

const printer = ts.createPrinter({ removeComments: true });

/** The entries that package.json exports, in its order, with everything they export. @returns {Entry[]} */
export function readEntries() {
  const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
  const names = Object.keys(manifest.exports).filter((key) => !/(json|proto)$/.test(key));
  const files = names.map((key) => `${ROOT}src/${key === "." ? "index" : key.slice(2)}.ts`);
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.build.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  /** @type {Map<ts.Symbol, string>} */
  const origins = new Map();
  return names.map((key, at) => {
    const name = key === "." ? manifest.name : `${manifest.name}${key.slice(1)}`;
    const source = /** @type {ts.SourceFile} */ (program.getSourceFile(files[at]));
    const module = /** @type {ts.Symbol} */ (checker.getSymbolAtLocation(source));
    const exported = checker.getExportsOfModule(module).filter((each) => !isInternalExport(each));
    exported.sort((a, b) => (a.name < b.name ? -1 : 1));
    const symbols = exported.map((each) => {
      const target = each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each;
      const origin = origins.get(target) ?? name;
      origins.set(target, origin);
      return readSymbol(each.name, target, origin, checker);
    });
    return { name, doc: headerOf(source), symbols };
  });
}

/** An export for other entries of the package, which its declarations leave out. @param {ts.Symbol} symbol */
function isInternalExport({ declarations = [] }) {
  return declarations.some((node) => {
    const statement = ts.isExportSpecifier(node) ? node.parent.parent : node;
    return ts.getJSDocTags(statement).some(({ tagName }) => tagName.text === "internal");
  });
}

/** The first comment of an entry, without "re-exports only". @param {ts.SourceFile} source */
function headerOf(source) {
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(source.text)?.[1] ?? "";
  return plain(comment).replace(/[.:]? re-exports only\.?$/i, ".");
}

/** @param {string} comment */
function plain(comment) {
  return comment.replaceAll(/^[ \t]*\* ?/gm, "").trim();
}

/** @param {string} name @param {ts.Symbol} symbol @param {string} origin @param {ts.TypeChecker} checker @returns {Symbol} */
function readSymbol(name, symbol, origin, checker) {
  const nodes = symbol.declarations ?? [];
  const node = nodes[0];
  if (node === undefined) throw new Error(`${name}: no declaration`);
  const base = { name, origin, doc: docOf(node), bases: [], properties: [], methods: [] };
  if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) {
    const bases = (node.heritageClauses ?? []).flatMap(({ types }) => types.map(textOf));
    const kind = ts.isClassDeclaration(node) ? "class" : "interface";
    return { ...base, kind, code: undefined, bases, ...membersOf(node.members, checker) };
  }
  if (ts.isTypeAliasDeclaration(node)) {
    const code = `type ${name}${parametersOf(node)} =${unionText(node.type)};`;
    return { ...base, kind: "type", code, properties: nestedOf("", node.type) };
  }
  if (ts.isFunctionDeclaration(node)) {
    const heads = nodes.filter(ts.isFunctionDeclaration);
    const shown = heads.length > 1 ? heads.filter((each) => each.body === undefined) : heads;
    const code = shown.map((each) => `function ${signatureOf(each, name, checker)};`).join("\n");
    const options = shown.flatMap((each) => parameterOptions(each.parameters));
    return { ...base, kind: "function", code, properties: options };
  }
  if (ts.isVariableDeclaration(node)) {
    const type = node.type === undefined ? typeText(node, checker) : textOf(node.type);
    const list = /** @type {ts.Node} */ (node.parent.parent);
    return { ...base, kind: "constant", code: `const ${name}: ${type};`, doc: docOf(list) };
  }
  throw new Error(`${name}: a declaration that is not known here (${ts.SyntaxKind[node.kind]})`);
}

/** A type behind its name; a long union has a line for each member. @param {ts.TypeNode} type */
function unionText(type) {
  const text = textOf(type);
  if (!ts.isUnionTypeNode(type) || text.length < SIGNATURE_COLUMNS) return ` ${text}`;
  return type.types.map((each) => `\n  | ${textOf(each)}`).join("");
}

/** @param {ts.TypeAliasDeclaration} node */
function parametersOf({ typeParameters }) {
  return typeParameters === undefined ? "" : `<${typeParameters.map(textOf).join(", ")}>`;
}

/** @param {ts.NodeArray<ts.TypeElement | ts.ClassElement>} members @param {ts.TypeChecker} checker */
function membersOf(members, checker) {
  /** @type {Property[]} */
  const properties = [];
  /** @type {Map<string, Method>} */
  const methods = new Map();
  for (const member of members) {
    if (!isPublic(member)) continue;
    const name = member.name?.getText() ?? "new";
    if (isCall(member)) {
      const signature = signatureOf(member, name, checker);
      const known = methods.get(name);
      if (known !== undefined) {
        if (!("body" in member) || member.body === undefined) known.signatures.push(signature);
        continue;
      }
      const options = parameterOptions(member.parameters);
      methods.set(name, { name, signatures: [signature], doc: docOf(member), options });
    } else if (isValue(member)) {
      properties.push(...propertyOf("", member, checker));
    }
  }
  return { properties, methods: [...methods.values()] };
}

/** @param {ts.TypeElement | ts.ClassElement} member */
function isPublic(member) {
  const isHidden = ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal");
  if (isHidden || (member.name !== undefined && ts.isPrivateIdentifier(member.name))) return false;
  const modifiers = ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []) : [];
  return !modifiers.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
}

/** @param {ts.Node} node @returns {node is ts.MethodSignature | ts.MethodDeclaration | ts.ConstructorDeclaration} */
function isCall(node) {
  return (
    ts.isMethodSignature(node) || ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node)
  );
}

/** @param {ts.Node} node @returns {node is ts.PropertySignature | ts.PropertyDeclaration | ts.GetAccessorDeclaration} */
function isValue(node) {
  return (
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isGetAccessorDeclaration(node)
  );
}

/**
 * A property and, below it, the fields of objects that its type spells out.
 * @param {string} path @param {ts.PropertySignature | ts.PropertyDeclaration | ts.GetAccessorDeclaration} node
 * @param {ts.TypeChecker} [checker] @returns {Property[]}
 */
function propertyOf(path, node, checker) {
  const name = path + node.name.getText();
  const modifiers = ts.getModifiers(node) ?? [];
  const isReadonly =
    ts.isGetAccessorDeclaration(node) ||
    modifiers.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword);
  const isOptional = "questionToken" in node && node.questionToken !== undefined;
  const type = node.type === undefined ? typeText(node, checker) : textOf(node.type);
  const own = { name, type, isOptional, isGiven: isOptional && !isReadonly, doc: docOf(node) };
  const nested = node.type === undefined ? [] : nestedOf(name, node.type);
  if (!isReadonly) return [own, ...nested];
  return [own, ...nested.map((each) => ({ ...each, isGiven: false }))];
}

/** @param {string} path @param {ts.TypeNode} type @returns {Property[]} */
function nestedOf(path, type) {
  if (ts.isTypeLiteralNode(type)) {
    const at = path === "" ? "" : `${path}.`;
    return type.members.flatMap((each) => (isValue(each) ? propertyOf(at, each) : []));
  }
  if (ts.isUnionTypeNode(type)) return type.types.flatMap((each) => nestedOf(path, each));
  if (ts.isParenthesizedTypeNode(type)) return nestedOf(path, type.type);
  if (ts.isArrayTypeNode(type)) return nestedOf(`${path}[]`, type.elementType);
  if (ts.isTypeReferenceNode(type) && /^(Readonly)?Array$/.test(type.typeName.getText()))
    return (type.typeArguments ?? []).flatMap((each) => nestedOf(`${path}[]`, each));
  if (ts.isTypeReferenceNode(type) && type.typeName.getText() === "Record")
    return (type.typeArguments ?? []).slice(1).flatMap((each) => nestedOf(`${path}[name]`, each));
  if (ts.isFunctionTypeNode(type)) return nestedOf(`${path}()`, type.type);
  return [];
}

/** Objects that are spelt out among the parameters. @param {ts.NodeArray<ts.ParameterDeclaration>} parameters */
function parameterOptions(parameters) {
  return parameters.flatMap(({ name, type }) =>
    type === undefined ? [] : nestedOf(name.getText(), type),
  );
}

/** @param {ts.SignatureDeclaration} node @param {string} name @param {ts.TypeChecker} checker */
function signatureOf(node, name, checker) {
  const generics = node.typeParameters?.map(textOf).join(", ");
  const parameters = node.parameters.map((each) => {
    const isOptional = each.questionToken !== undefined || each.initializer !== undefined;
    const type = each.type === undefined ? typeText(each, checker) : textOf(each.type);
    const label = ts.isIdentifier(each.name) ? each.name.text : "options";
    return `${label}${isOptional ? "?" : ""}: ${type}`;
  });
  const start = `${name}${generics === undefined ? "" : `<${generics}>`}`;
  const line = parameters.join(", ");
  const head =
    line.length + start.length > SIGNATURE_COLUMNS
      ? `${start}(\n${parameters.map((each) => `  ${each},\n`).join("")})`
      : `${start}(${line})`;
  if (ts.isConstructorDeclaration(node)) return head;
  if (node.type !== undefined) return `${head}: ${textOf(node.type)}`;
  const signature = checker.getSignatureFromDeclaration(node);
  if (signature === undefined) return head;
  return `${head}: ${checker.typeToString(checker.getReturnTypeOfSignature(signature))}`;
}

/** @param {ts.Node} node @param {ts.TypeChecker} [checker] */
function typeText(node, checker) {
  if (checker === undefined) return "unknown";
  const flags = ts.TypeFormatFlags.NoTruncation;
  return checker.typeToString(checker.getTypeAtLocation(node), node, flags);
}

/** Source text of a node without its comments, in one line. @param {ts.Node} node */
function textOf(node) {
  const text = printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
  return text.replaceAll(/\s+/g, " ").replaceAll(/; \}/g, " }").replaceAll(/^\| /g, "");
}

/** @param {ts.Node} node @returns {Doc} */
function docOf(node) {
  const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const comment = comments.at(-1);
  const tags = comment?.tags ?? [];
  const tagged = (/** @type {RegExp} */ name) =>
    tags.filter(({ tagName }) => name.test(tagName.text)).map((tag) => wordsOf(tag.comment));
  const [defaultValue] = tagged(/^defaultValue$/);
  const doc = { text: wordsOf(comment?.comment), examples: tagged(/^example$/) };
  return defaultValue === undefined ? doc : { ...doc, defaultValue };
}

/** @param {string | ts.NodeArray<ts.JSDocComment> | undefined} comment */
function wordsOf(comment) {
  return ts.getTextOfJSDocComment(comment)?.trim() ?? "";
}

/** Names of entries whose callers are tests: their functions need no example. */
const FOR_TESTS = ["outrider/testing"];
const MILLISECONDS = /milliseconds?|\bms\b|since 1970/i;
const COST = /\bcosts?\b/i;
const FAILURE = /throws|rejects|never|returns|resolves|undefined|reports|\[\]/i;
const BYTES = /\bbytes?\b|[KMG]iB/i;

/**
 * What a reader would miss: a public name without a summary; a field that a caller may leave out without its default; a number of
 * milliseconds or bytes without its unit; a function, or an interface of options, without an example; a method of a frontier without its
 * cost; a function that does not say what it answers or throws when it cannot do its work.
 * @param {readonly Entry[]} entries @returns {string[]}
 */
export function problemsOf(entries) {
  return entries.flatMap(({ name, symbols }) =>
    symbols
      .filter(({ origin }) => origin === name)
      .flatMap((symbol) => {
        const at = `${name} ${symbol.name}`;
        return [
          ...(symbol.doc.text === "" ? [`${at}: no summary`] : []),
          ...(needsExample(symbol) ? [`${at}: no example`] : []),
          ...(symbol.kind === "function" ? callProblems(at, symbol.code ?? "", symbol.doc) : []),
          ...fieldProblems(at, symbol.properties, symbol.name.endsWith("Events")),
          ...symbol.methods.flatMap((method) => [
            ...(method.doc.text === "" ? [`${at}.${method.name}(): no summary`] : []),
            ...(symbol.name === "Frontier" ? methodProblems(at, method) : []),
            ...fieldProblems(`${at}.${method.name}()`, method.options, false),
          ]),
        ];
      }),
  );
}

/** Functions, and what a caller fills in, are shown at work. @param {Symbol} symbol */
function needsExample({ kind, origin, doc, properties }) {
  if (FOR_TESTS.includes(origin)) return false;
  const isFilledIn = kind !== "function" && properties.some(({ isGiven }) => isGiven);
  if (kind !== "function" && !isFilledIn) return false;
  const docs = [doc, ...properties.map((each) => each.doc)];
  return docs.every(({ text, examples }) => examples.length === 0 && !text.includes("```"));
}

/** @param {string} owner @param {Method} method */
function methodProblems(owner, { name, signatures, doc }) {
  const at = `${owner}.${name}()`;
  return [
    ...(COST.test(doc.text) ? [] : [`${at}: no cost`]),
    ...failureProblems(at, signatures.join(), doc),
  ];
}

/** What a function costs that works on a list or takes its time. @param {string} at @param {string} code @param {Doc} doc */
function callProblems(at, code, doc) {
  const isLong = /Promise<|Iterable<|\[\]/.test(code);
  return [
    ...(isLong && !COST.test(doc.text) ? [`${at}: no cost`] : []),
    ...failureProblems(at, code, doc),
  ];
}

/** What a call with arguments answers or throws where it cannot do its work. @param {string} at @param {string} code @param {Doc} doc */
function failureProblems(at, code, { text }) {
  const isTold = text === "" || code.includes("()") || FAILURE.test(text);
  return isTold ? [] : [`${at}: no failure value`];
}

/** @param {string} at @param {readonly Property[]} fields @param {boolean} isTold of a payload nothing is given */
function fieldProblems(at, fields, isTold) {
  return fields.flatMap(({ name, type, isGiven, doc }) => [
    ...(doc.text === "" ? [`${at}.${name}: no summary`] : []),
    ...(isGiven && !isTold && doc.defaultValue === undefined ? [`${at}.${name}: no default`] : []),
    ...(hasUnit(name, type, doc) ? [] : [`${at}.${name}: no unit`]),
  ]);
}

/** @param {string} name @param {string} type @param {Doc} doc */
function hasUnit(name, type, { text, defaultValue = "" }) {
  if (!type.includes("number") || text === "") return true;
  const words = `${text} ${defaultValue}`;
  if (/(Ms|At)$/.test(name)) return MILLISECONDS.test(words);
  return !/bytes/i.test(name) || BYTES.test(words);
}
