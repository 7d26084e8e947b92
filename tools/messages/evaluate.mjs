/**
 * The texts that expressions can have, as far as the sources say: each alternative once, unknown parts as `<name>`.
 *
 * Expressions that belong together are evaluated together, so that what one call hands over for two parameters stays a pair.
 */
import ts from "typescript";

/** @typedef {Map<ts.Symbol, string>} Bindings */
/** @typedef {{ at: Bindings, depth: number }} Context */

const DEPTH_MAX = 6;
/** More alternatives than this are one placeholder. */
const TEXTS_MAX = 64;

export class Evaluator {
  /** @param {ts.TypeChecker} checker @param {readonly ts.SourceFile[]} sources */
  constructor(checker, sources) {
    this.checker = checker;
    this.calls = callsIn(checker, sources);
  }

  /** All combinations of texts of these expressions of one place. @param {readonly ts.Expression[]} parts @returns {string[][]} */
  rowsOf(parts) {
    const place = /** @type {ts.Expression} */ (parts[0]);
    const wanted = this.parametersIn(parts);
    const rows = this.contextsOf(place, wanted, DEPTH_MAX).flatMap((at) =>
      product(parts.map((part) => this.textsOf(part, { at, depth: DEPTH_MAX }))),
    );
    return unique(rows);
  }

  /** What the parameters around a place are called with. @param {ts.Node} place @param {ReadonlySet<ts.Symbol>} wanted @param {number} depth @returns {Bindings[]} */
  contextsOf(place, wanted, depth) {
    const around = functionAround(place);
    if (around === undefined || depth === 0) return [new Map()];
    const own = around.parameters.filter((each) => this.wantsSome(each, wanted));
    const outer = this.contextsOf(around, wanted, depth);
    if (own.length === 0) return outer;
    const sites = this.calls.get(this.symbolOf(around)) ?? [];
    const bound = sites.flatMap((call) => this.boundBy(call, own, depth - 1));
    const all = bound.length === 0 ? [this.bindNames(own)] : bound;
    const merged = outer.flatMap((before) => all.map((at) => new Map([...before, ...at])));
    return uniqueBindings(merged);
  }

  /** @param {ts.CallExpression} call @param {readonly ts.ParameterDeclaration[]} own @param {number} depth @returns {Bindings[]} */
  boundBy(call, own, depth) {
    const given = own.map((each) => {
      const list = /** @type {ts.SignatureDeclaration} */ (each.parent).parameters;
      const index = list.indexOf(each);
      return each.dotDotDotToken === undefined ? call.arguments[index] : undefined;
    });
    const wanted = this.parametersIn(given.filter((each) => each !== undefined));
    return this.contextsOf(call, wanted, depth).flatMap((at) => {
      const texts = own.map((each, index) => {
        const value = given[index] ?? each.initializer;
        if (value === undefined) return [placeholder(each)];
        return this.textsOf(value, { at, depth }).map((text) => handed(text, each));
      });
      return product(texts).map((row) => this.bindingsOf(own, row));
    });
  }

  /** @param {ts.Expression} node @param {Context} context @returns {string[]} */
  textsOf(node, context) {
    const texts = unique(this.alternatives(node, context));
    if (texts.length > TEXTS_MAX) return [named(node)];
    // Where a value is open, a bare number or word beside it is its default: the same message.
    const worded = texts.filter((text) => isOpen(text) || !/^(\d*|\w+)$/.test(text));
    return texts.length > 1 && worded.some(isOpen) ? worded : texts;
  }

  /** @param {ts.Expression} node @param {Context} context @returns {string[]} */
  alternatives(node, context) {
    if (ts.isStringLiteralLike(node)) return [node.text];
    if (ts.isNumericLiteral(node)) return [node.text];
    if (ts.isTemplateExpression(node)) {
      const parts = node.templateSpans.map(({ expression, literal }) =>
        this.textsOf(expression, context).map((text) => text + literal.text),
      );
      return product([[node.head.text], ...parts]).map((row) => row.join(""));
    }
    if (ts.isConditionalExpression(node)) {
      return [...this.textsOf(node.whenTrue, context), ...this.textsOf(node.whenFalse, context)];
    }
    if (ts.isBinaryExpression(node)) return this.ofBinary(node, context);
    if (ts.isIdentifier(node)) return this.ofName(node, context);
    if (ts.isCallExpression(node)) return this.ofCall(node, context);
    if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
      return this.ofMember(node, context);
    }
    const inner = /** @type {{ expression?: ts.Expression }} */ (node).expression;
    const isWrapped =
      ts.isParenthesizedExpression(node) ||
      ts.isAsExpression(node) ||
      ts.isNonNullExpression(node) ||
      ts.isSatisfiesExpression(node);
    return isWrapped && inner !== undefined ? this.textsOf(inner, context) : [named(node)];
  }

  /** @param {ts.BinaryExpression} node @param {Context} context */
  ofBinary({ left, right, operatorToken }, context) {
    const operator = operatorToken.kind;
    const pairs = product([this.textsOf(left, context), this.textsOf(right, context)]);
    const [[a = "", b = ""] = []] = pairs;
    const number = pairs.length === 1 ? arithmetic(operator, Number(a), Number(b)) : Number.NaN;
    if (!Number.isNaN(number)) return [String(number)];
    if (operator === ts.SyntaxKind.PlusToken) {
      const isSum = isOpen(a) && /^\d+$/.test(b);
      return isSum ? [a] : pairs.map((pair) => pair.join(""));
    }
    const isChoice =
      operator === ts.SyntaxKind.QuestionQuestionToken || operator === ts.SyntaxKind.BarBarToken;
    return isChoice
      ? [...this.textsOf(left, context), ...this.textsOf(right, context)]
      : [named(left)];
  }

  /** @param {ts.Identifier} node @param {Context} context */
  ofName(node, context) {
    if (node.text === "undefined") return ["undefined"];
    const symbol = this.symbolAt(node);
    const bound = symbol === undefined ? undefined : context.at.get(symbol);
    if (bound !== undefined) return [bound];
    const declared = symbol?.valueDeclaration;
    if (context.depth === 0 || declared === undefined) return [`<${node.text}>`];
    if (ts.isVariableDeclaration(declared) && declared.initializer !== undefined) {
      const isFixed = (ts.getCombinedNodeFlags(declared) & ts.NodeFlags.Const) !== 0;
      const { initializer } = declared;
      if (!isFixed || !ts.isIdentifier(declared.name)) return [`<${node.text}>`];
      const texts = this.textsOf(initializer, { at: context.at, depth: context.depth - 1 });
      return texts.map((text) => (isOpen(text) ? `<${node.text}>` : text));
    }
    return [`<${node.text}>`];
  }

  /** @param {ts.CallExpression} node @param {Context} context @returns {string[]} */
  ofCall(node, context) {
    const { expression: callee } = node;
    const [first] = node.arguments;
    const name = callee.getText();
    if (first !== undefined && /^(String|shown|whole|JSON\.stringify)$/.test(name)) {
      return this.textsOf(first, context).map((text) => (isOpen(text) ? named(first) : text));
    }
    if (ts.isPropertyAccessExpression(callee) && callee.name.text === "join") {
      const list = this.listOf(callee.expression);
      const by = first === undefined ? "," : this.textsOf(first, context)[0];
      return [list === undefined ? named(callee.expression) : list.join(by)];
    }
    const target = ts.isIdentifier(callee) ? this.symbolAt(callee)?.valueDeclaration : undefined;
    const made = target === undefined ? undefined : functionOf(target);
    if (made?.body === undefined || context.depth === 0) return [named(node)];
    const depth = context.depth - 1;
    const given = made.parameters.map((each, index) => {
      const value = node.arguments[index] ?? each.initializer;
      if (value === undefined) return [placeholder(each)];
      return this.textsOf(value, context).map((text) => handed(text, each));
    });
    return product(given).flatMap((row) => {
      const at = this.bindingsOf(made.parameters, row);
      return answersOf(made).flatMap((answer) => this.textsOf(answer, { at, depth }));
    });
  }

  /** A member of a constant object; of one that is asked by a variable, each. @param {ts.PropertyAccessExpression | ts.ElementAccessExpression} node @param {Context} context */
  ofMember(node, context) {
    const object = this.objectOf(node.expression);
    if (object === undefined || context.depth === 0) return [named(node)];
    const key = ts.isPropertyAccessExpression(node)
      ? node.name.text
      : ts.isStringLiteralLike(node.argumentExpression)
        ? node.argumentExpression.text
        : undefined;
    const inner = { at: context.at, depth: context.depth - 1 };
    return object.properties.flatMap((each) => {
      const isWanted =
        ts.isPropertyAssignment(each) && (key ?? each.name.getText()) === each.name.getText();
      return isWanted ? this.textsOf(each.initializer, inner) : [];
    });
  }

  /** The texts of a constant list, or of the names of a constant object. @param {ts.Expression} node @returns {string[] | undefined} */
  listOf(node) {
    if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      const isKeys = node.expression.getText() === "Object.keys" && first !== undefined;
      const object = isKeys ? this.objectOf(first) : undefined;
      return object?.properties.map((each) => each.name?.getText() ?? "…");
    }
    const list = this.constantOf(node);
    if (list === undefined || !ts.isArrayLiteralExpression(list)) return undefined;
    const texts = list.elements.map((each) =>
      ts.isStringLiteralLike(each) ? each.text : undefined,
    );
    return texts.every((text) => text !== undefined) ? texts : undefined;
  }

  /** @param {ts.Expression} node */
  objectOf(node) {
    const object = this.constantOf(node);
    return object !== undefined && ts.isObjectLiteralExpression(object) ? object : undefined;
  }

  /** The expression behind a constant's name. @param {ts.Expression} node @returns {ts.Expression | undefined} */
  constantOf(node) {
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node))
      return this.constantOf(node.expression);
    if (ts.isCallExpression(node) && node.expression.getText() === "Object.freeze") {
      const [first] = node.arguments;
      return first === undefined ? undefined : this.constantOf(first);
    }
    if (!ts.isIdentifier(node)) return node;
    const declared = this.symbolAt(node)?.valueDeclaration;
    const isConstant = declared !== undefined && ts.isVariableDeclaration(declared);
    return isConstant && declared.initializer !== undefined
      ? this.constantOf(declared.initializer)
      : undefined;
  }

  /** Parameters that texts may depend on, through constants too. @param {readonly ts.Node[]} nodes */
  parametersIn(nodes) {
    /** @type {Set<ts.Symbol>} */
    const found = new Set();
    const seen = new Set();
    const visit = (/** @type {ts.Node} */ node) => {
      if (ts.isIdentifier(node) && !seen.has(node)) {
        seen.add(node);
        const symbol = this.symbolAt(node);
        const declared = symbol?.valueDeclaration;
        if (symbol !== undefined && declared !== undefined && ts.isParameter(declared))
          found.add(symbol);
        else if (declared !== undefined && ts.isVariableDeclaration(declared)) {
          if (declared.initializer !== undefined && !seen.has(declared)) {
            seen.add(declared);
            visit(declared.initializer);
          }
        }
      }
      ts.forEachChild(node, visit);
    };
    for (const node of nodes) visit(node);
    return found;
  }

  /** @param {ts.Node} node */
  symbolAt(node) {
    const parent = node.parent;
    const symbol =
      parent !== undefined && ts.isShorthandPropertyAssignment(parent)
        ? this.checker.getShorthandAssignmentValueSymbol(parent)
        : this.checker.getSymbolAtLocation(node);
    if (symbol === undefined) return undefined;
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** @param {ts.SignatureDeclaration} made */
  symbolOf(made) {
    return ownerOf(this.checker, made);
  }

  /** @param {ts.ParameterDeclaration} parameter @param {ReadonlySet<ts.Symbol>} wanted */
  wantsSome({ name }, wanted) {
    const symbol = this.checker.getSymbolAtLocation(name);
    return symbol !== undefined && wanted.has(symbol);
  }

  /** @param {readonly ts.ParameterDeclaration[]} own */
  bindNames(own) {
    return this.bindingsOf(own, own.map(placeholder));
  }

  /** @param {readonly ts.ParameterDeclaration[]} own @param {readonly string[]} texts @returns {Bindings} */
  bindingsOf(own, texts) {
    const pairs = own.map(
      (each, at) => /** @type {const} */ ([this.checker.getSymbolAtLocation(each.name), texts[at]]),
    );
    return new Map(
      /** @type {[ts.Symbol, string][]} */ (pairs.filter(([symbol]) => symbol !== undefined)),
    );
  }
}

/** Calls by the function that they call. @param {ts.TypeChecker} checker @param {readonly ts.SourceFile[]} sources */
function callsIn(checker, sources) {
  /** @type {Map<ts.Symbol | undefined, ts.CallExpression[]>} */
  const calls = new Map();
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isCallExpression(node)) {
      const { expression } = node;
      const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
      const symbol = checker.getSymbolAtLocation(name);
      const target =
        symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias
          ? checker.getAliasedSymbol(symbol)
          : symbol;
      if (target !== undefined) calls.set(target, [...(calls.get(target) ?? []), node]);
    }
    ts.forEachChild(node, visit);
  };
  for (const source of sources) visit(source);
  return calls;
}

/** What a function is called by. @param {ts.TypeChecker} checker @param {ts.SignatureDeclaration} made */
function ownerOf(checker, made) {
  const { parent } = made;
  const isBound = ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name);
  const name = made.name ?? (isBound ? parent.name : undefined);
  return name === undefined ? undefined : checker.getSymbolAtLocation(name);
}

/** @param {ts.Node} node @returns {ts.FunctionLikeDeclaration | undefined} */
function functionAround(node) {
  const around = ts.findAncestor(node.parent, ts.isFunctionLike);
  return /** @type {ts.FunctionLikeDeclaration | undefined} */ (around);
}

/** The function that a name stands for. @param {ts.Declaration} declared */
function functionOf(declared) {
  if (ts.isFunctionDeclaration(declared)) return declared;
  const made = ts.isVariableDeclaration(declared) ? declared.initializer : undefined;
  return made !== undefined && ts.isArrowFunction(made) ? made : undefined;
}

/** What a function returns. @param {ts.FunctionDeclaration | ts.ArrowFunction} made */
function answersOf({ body }) {
  if (body === undefined) return [];
  if (!ts.isBlock(body)) return [body];
  /** @type {ts.Expression[]} */
  const answers = [];
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isReturnStatement(node) && node.expression !== undefined) answers.push(node.expression);
    else if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  visit(body);
  return answers;
}

/** Whether a text is a placeholder and no more. @param {string} text */
function isOpen(text) {
  return /^<[^<>]*>$/.test(text);
}

/** What a call hands over, by the parameter's name where it is open. @param {string} text @param {ts.ParameterDeclaration} to */
function handed(text, to) {
  const isLeftOut = text === "undefined" && to.name.getText() !== "value";
  return text === "" || isLeftOut || isOpen(text) ? placeholder(to) : text;
}

/** @param {ts.ParameterDeclaration} parameter */
function placeholder({ name }) {
  return ts.isIdentifier(name) ? `<${name.text}>` : "<…>";
}

/** An expression as a placeholder: by the last name in it. @param {ts.Expression} node */
function named(node) {
  if (ts.isPropertyAccessExpression(node)) return `<${node.name.text.replace("#", "")}>`;
  if (ts.isIdentifier(node)) return `<${node.text}>`;
  if (ts.isElementAccessExpression(node) || ts.isNonNullExpression(node))
    return named(node.expression);
  if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node)) return named(node.expression);
  if (ts.isCallExpression(node)) return named(node.expression);
  return "<…>";
}

/** Constant expressions of numbers; NaN for every other. @param {ts.SyntaxKind} operator @param {number} a @param {number} b */
function arithmetic(operator, a, b) {
  if (operator === ts.SyntaxKind.PlusToken) return a + b;
  if (operator === ts.SyntaxKind.MinusToken) return a - b;
  if (operator === ts.SyntaxKind.AsteriskToken) return a * b;
  if (operator === ts.SyntaxKind.SlashToken) return a / b;
  if (operator === ts.SyntaxKind.AsteriskAsteriskToken) return a ** b;
  return Number.NaN;
}

/** @param {readonly (readonly string[])[]} columns @returns {string[][]} */
function product(columns) {
  /** @type {string[][]} */
  let rows = [[]];
  for (const texts of columns) rows = rows.flatMap((row) => texts.map((text) => [...row, text]));
  return rows;
}

/** @template T @param {readonly T[]} values @returns {T[]} */
function unique(values) {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** @param {readonly Bindings[]} list */
function uniqueBindings(list) {
  /** @type {Map<string, Bindings>} */
  const byText = new Map();
  for (const at of list)
    byText.set(JSON.stringify([...at].map(([{ name }, text]) => [name, text])), at);
  return [...byText.values()];
}
