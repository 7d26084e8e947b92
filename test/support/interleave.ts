/**
 * Every order of the atomic steps of real code: a source file is read unchanged, each function in it becomes a generator,
 * and each access to shared memory a step. The explorer then runs the threads in every possible order.
 *
 *   Atomics.x(…), reads and writes of slots ─▶ one step each        Atomics.wait ─▶ sleeps until notified
 *   Atomics.waitAsync ─▶ a wait of its thread, until notified       kill ─▶ no more steps, and no wait of that thread
 *   two schedules that lead to equal memory and equal histories of all threads are one
 *
 * Memory is sequentially consistent here, as Atomics are; a plain access is a step of its own, so that a publish that
 * comes before what it publishes is seen by some order.
 */
import { readFileSync } from "node:fs";
import ts from "typescript";
import { packageRoot } from "./package.ts";

export type Thread = Generator<undefined, void, unknown>;
export type StepFunction = (...given: unknown[]) => Generator<undefined, unknown, unknown>;
export type StepApi = Record<string, StepFunction>;

export interface World {
  readonly threads: readonly Thread[];
  /** Everything shared, as text. */
  key(): string;
  /** Called when all threads have ended; throws for a forbidden state. */
  check(): void;
}

export interface Machine {
  /** The thread that makes the current step. */
  current: number;
  /** The values that each thread has seen so far. */
  readonly logs: string[];
  /** [words, index] that a thread sleeps on; undefined: awake. */
  readonly sleeps: Array<{ words: Int32Array; at: number } | undefined>;
  /** Waits that do not sleep, oldest first. */
  readonly waits: Wait[];
  readonly killed: Set<number>;
}

interface Wait {
  readonly words: Int32Array;
  readonly at: number;
  readonly thread: number;
}

/** Ends a thread between two of its steps. */
export function kill(machine: Machine, thread: number): void {
  machine.killed.add(thread);
  machine.waits.splice(0, Infinity, ...machine.waits.filter((one) => one.thread !== thread));
}

/** Names of receivers whose plain accesses are shared. */
const SHARED_ARRAYS = /^(slotWords|slots)$/;

/** The functions of source files as generators, one step per shared access. `edits` break them first. */
export function loadSteps(
  path: string | readonly string[],
  edits: ReadonlyArray<readonly [string, string]> = [],
  arrays = SHARED_ARRAYS,
) {
  const files = typeof path === "string" ? [path] : path;
  let text = files.map((file) => readFileSync(`${packageRoot}${file}`, "utf8")).join("\n");
  for (const [from, to] of edits) {
    if (text.split(from).length !== 2) throw new Error(`edit: ${from} (expected: once in ${path})`);
    text = text.replace(from, () => to);
  }
  const js = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ES2022 },
  }).outputText;
  const tree = ts.createSourceFile("steps.js", js, ts.ScriptTarget.ES2023, true);
  const names = new Set<string>();
  for (const statement of tree.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name) names.add(statement.name.text);
  }
  /** By the given names: each order of steps runs it again. */
  const compiled = new Map<string, (...given: unknown[]) => StepApi>();
  return { code: transform(tree, names, arrays), names: [...names], compiled };
}

export type Steps = ReturnType<typeof loadSteps>;

/** Instantiates loaded code for one run of the explorer. */
export function bindSteps(steps: Steps, machine: Machine, free: object): StepApi {
  const { code, names } = steps;
  const shared = sharedOf(machine);
  const store = (array: Int32Array, at: number, value: number) =>
    shared(() => {
      array[at] = value;
      return value;
    });
  const scope = { ...free, Atomics: atomicsOf(machine), __shared: shared, __store: store };
  const given = Object.keys(scope).join();
  let make = steps.compiled.get(given);
  if (make === undefined) {
    make = new Function(given, `${code}\nreturn { ${names.join(", ")} };`) as () => StepApi;
    steps.compiled.set(given, make);
  }
  return make(...Object.values(scope));
}

/** Runs every order; returns the number of states. Throws with the order that breaks `check`. */
export function explore(make: (machine: Machine) => World, statesMax = 100_000): number {
  const seen = new Set<string>();
  const stack: number[][] = [[]];
  for (let order = stack.pop(); order !== undefined; order = stack.pop()) {
    const machine: Machine = {
      ...{ current: -1, logs: [], sleeps: [], waits: [], killed: new Set() },
    };
    const world = make(machine);
    const ended = world.threads.map(() => false);
    machine.logs.push(...world.threads.map(() => ""));
    try {
      for (const thread of order) {
        ended[thread] = step(world, machine, thread);
        for (const dead of machine.killed) ended[dead] = true;
      }
      const awake = ended.flatMap((isOver, at) => (isOver || machine.sleeps[at] ? [] : [at]));
      if (awake.length === 0) {
        if (ended.includes(false)) throw new Error("a thread sleeps and nobody will wake it");
        world.check();
        continue;
      }
      const asleep = machine.sleeps.map(Boolean).join();
      const waits = machine.waits.map(({ at, thread }) => `${thread}@${at}`).join();
      const key = [world.key(), ...machine.logs, ended.join(), asleep, waits].join("|");
      if (seen.has(key)) continue;
      seen.add(key);
      if (seen.size > statesMax) throw new Error(`more than ${statesMax} states`);
      for (const thread of awake) stack.push([...order, thread]);
    } catch (cause) {
      throw new Error(`order ${order.join(" ")}: ${(cause as Error).message}`, { cause });
    }
  }
  return seen.size;
}

function step(world: World, machine: Machine, thread: number): boolean {
  machine.current = thread;
  machine.logs[thread] += "."; // where it stands is part of the state
  return (world.threads[thread] as Thread).next().done === true;
}

function sharedOf(machine: Machine) {
  return function* shared(access: () => unknown): Generator<undefined, unknown, unknown> {
    yield;
    const value = access();
    machine.logs[machine.current] += `,${typeof value === "object" ? "" : String(value)}`;
    return value;
  };
}

/** Atomics over one thread at a time: the real ones, except for sleeping and waking. */
function atomicsOf(machine: Machine) {
  return {
    load: (words: Int32Array, at: number) => words[at],
    store: (words: Int32Array, at: number, value: number) => {
      words[at] = value;
      return value;
    },
    exchange: (words: Int32Array, at: number, value: number) => {
      const before = words[at];
      words[at] = value;
      return before;
    },
    wait: (words: Int32Array, at: number, value: number) => {
      if (words[at] !== value) return "not-equal";
      machine.sleeps[machine.current] = { words, at };
      return "ok";
    },
    compareExchange: (words: Int32Array, at: number, expected: number, value: number) => {
      const before = words[at];
      if (before === expected) words[at] = value;
      return before;
    },
    waitAsync: (words: Int32Array, at: number, value: number) => {
      if (words[at] !== value) return { async: false, value: "not-equal" };
      machine.waits.push({ words, at, thread: machine.current });
      return { async: true, value: undefined };
    },
    notify: (words: Int32Array, at: number, most = Number.POSITIVE_INFINITY) => {
      const isHere = (one: { words: Int32Array; at: number } | undefined): boolean =>
        one?.words === words && one.at === at;
      let woken = 0;
      for (; woken < most; woken++) {
        const sleeper = machine.sleeps.findIndex(isHere);
        const wait = machine.waits.findIndex(isHere);
        if (sleeper >= 0) machine.sleeps[sleeper] = undefined;
        else if (wait >= 0) machine.waits.splice(wait, 1);
        else break;
      }
      return woken;
    },
  };
}

/** The element that an assignment writes. */
function writtenBy(node: ts.Node): ts.ElementAccessExpression | undefined {
  if (!ts.isBinaryExpression(node)) return undefined;
  const isAssignment = node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return isAssignment && ts.isElementAccessExpression(node.left) ? node.left : undefined;
}

function transform(tree: ts.SourceFile, names: ReadonlySet<string>, arrays: RegExp): string {
  const { factory } = ts;
  const isShared = (node: ts.Node): boolean =>
    (ts.isPropertyAccessExpression(node) && arrays.test(node.name.text)) ||
    (ts.isIdentifier(node) && arrays.test(node.text));
  const shared = (expression: ts.Expression): ts.Expression =>
    factory.createParenthesizedExpression(
      factory.createYieldExpression(
        factory.createToken(ts.SyntaxKind.AsteriskToken),
        factory.createCallExpression(factory.createIdentifier("__shared"), undefined, [
          factory.createArrowFunction(
            undefined,
            undefined,
            [],
            undefined,
            factory.createToken(ts.SyntaxKind.EqualsGreaterThanToken),
            expression,
          ),
        ]),
      ),
    );
  const result = ts.transform(tree, [
    (context) => (root) => {
      const visit = (node: ts.Node): ts.Node => {
        if (ts.isImportDeclaration(node)) return factory.createEmptyStatement();
        if (ts.isFunctionDeclaration(node)) {
          const body = ts.visitEachChild(node, visit, context).body;
          const star = factory.createToken(ts.SyntaxKind.AsteriskToken);
          const { name, parameters } = node;
          return factory.createFunctionDeclaration([], star, name, [], parameters, undefined, body);
        }
        if (ts.isCallExpression(node)) {
          const target = node.expression;
          if (ts.isIdentifier(target) && names.has(target.text)) {
            const call = ts.visitEachChild(node, visit, context) as ts.CallExpression;
            const star = factory.createToken(ts.SyntaxKind.AsteriskToken);
            return factory.createParenthesizedExpression(factory.createYieldExpression(star, call));
          }
          if (ts.isPropertyAccessExpression(target)) {
            const isAtomics =
              ts.isIdentifier(target.expression) && target.expression.text === "Atomics";
            if (isAtomics || (isShared(target.expression) && target.name.text === "set")) {
              return shared(node);
            }
          }
        }
        const target = writtenBy(node);
        if (target !== undefined && isShared(target.expression)) {
          const { expression, argumentExpression } = target;
          const given = [expression, argumentExpression, (node as ts.BinaryExpression).right].map(
            (one) => ts.visitNode(one, visit) as ts.Expression,
          );
          const store = factory.createIdentifier("__store");
          const call = factory.createCallExpression(store, undefined, given);
          const star = factory.createToken(ts.SyntaxKind.AsteriskToken);
          return factory.createParenthesizedExpression(factory.createYieldExpression(star, call));
        }
        if (ts.isElementAccessExpression(node) && isShared(node.expression)) return shared(node);
        return ts.visitEachChild(node, visit, context);
      };
      return ts.visitNode(root, visit) as ts.SourceFile;
    },
  ]);
  return ts
    .createPrinter()
    .printFile(result.transformed[0] as ts.SourceFile)
    .replace(/^export /gm, "");
}
