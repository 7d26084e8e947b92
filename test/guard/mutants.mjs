/**
 * Mutants: the new package with one thing wrong, put between it and the differential. They change what it does and not its source, so that
 * they stay while the source is restructured. Each must be caught.
 */
const over = (openFrontier, changes) => async (options) => {
  const frontier = await openFrontier(options);
  return new Proxy(frontier, {
    get(target, name) {
      const given = target[name];
      if (changes[name] !== undefined) return (...args) => changes[name](target, ...args);
      return typeof given === "function" ? given.bind(target) : given;
    },
    set(target, name, value) {
      target[name] = value;
      return true;
    },
  });
};

/** Changes methods of every frontier. */
const frontiers = (changes) => ({ openFrontier: (real) => over(real, changes) });

/** By name: the kind of program that shall catch it, and its exports in the place of the real ones. */
export const MUTANTS = {
  "a tie is broken the other way": {
    kind: "memory",
    changes: frontiers({
      peek: (frontier, max) => {
        const views = frontier.peek(max);
        const [first, second] = views;
        if (second !== undefined && first.priority === second.priority)
          views.splice(0, 2, second, first);
        return views;
      },
    }),
  },
  "a counter is one short": {
    kind: "memory",
    changes: frontiers({
      report: (frontier) => {
        const report = frontier.report();
        if (report.retried > 5) report.retried--;
        return report;
      },
    }),
  },
  "an event is missing": {
    kind: "memory",
    changes: frontiers({
      on: (frontier, event, listener) =>
        frontier.on(event, event === "expired" ? () => undefined : listener),
    }),
  },
  "an event comes twice": {
    kind: "memory",
    changes: frontiers({
      on: (frontier, event, listener) =>
        frontier.on(event, (payload) => {
          listener(payload);
          if (event === "status") listener(payload);
        }),
    }),
  },
  "an error has another code": {
    kind: "memory",
    changes: frontiers({
      pollMany: (frontier, max) => {
        if (max === -1)
          throw Object.assign(new Error("max"), {
            code: "OPTION_INVALID",
            details: { name: "max" },
          });
        return frontier.pollMany(max);
      },
    }),
  },
  "a verdict has another reason": {
    kind: "memory",
    changes: frontiers({
      push: (frontier, request) => {
        const verdict = frontier.push(request);
        return verdict.reason === "scheme" ? { ...verdict, reason: "invalid-url" } : verdict;
      },
    }),
  },
  "a due time is a millisecond late": {
    kind: "memory",
    changes: frontiers({
      push: (frontier, request) => {
        const isDue = typeof request?.notBefore === "number";
        return frontier.push(isDue ? { ...request, notBefore: request.notBefore + 1 } : request);
      },
    }),
  },
  "rules that are set keep their old shares": {
    kind: "memory",
    changes: frontiers({
      setRules: (frontier, rules, version) =>
        frontier.setRules(
          Array.isArray(rules) ? rules.map(({ share: _, ...rule }) => rule) : rules,
          version,
        ),
    }),
  },
  "an opening forgets what failed": {
    kind: "durable",
    changes: {
      openFrontier: (real) => async (options) => {
        const frontier = await real(options);
        if (options?.directory !== undefined && frontier.report().failed > 0)
          frontier.requeue({ state: "failed" });
        return frontier;
      },
    },
  },
  "a record of a killed process is lost": {
    kind: "killed",
    changes: {
      openFrontier: (real) =>
        over(real, {
          report: (frontier) => {
            const report = frontier.report();
            return {
              ...report,
              pending: Math.max(0, report.pending - 1),
              toString: () => String(report),
            };
          },
        }),
    },
  },
  "a fragment stays": {
    kind: "functions",
    changes: { canonicalize: (real) => (url, policy) => real(url, policy ?? { fragment: "keep" }) },
  },
  "an option is not checked": {
    kind: "options",
    changes: {
      openFrontier:
        (real) =>
        ({ maxLeases, ...options }) =>
          real(
            maxLeases === 0.5
              ? options
              : { ...options, ...(maxLeases === undefined ? {} : { maxLeases }) },
          ),
    },
  },
  "a thread's peek misses the first": {
    kind: "threads",
    changes: {
      openFrontierThread: (real) =>
        over(real, {
          peek: async (frontier, max) => (await frontier.peek(max)).slice(1),
        }),
    },
  },
  "a pool does not try again": {
    kind: "pools",
    changes: {
      openFrontier: (real) => (options) =>
        real({ ...options, defaults: { ...options?.defaults, maxAttempts: 1 } }),
    },
  },
};

/** The package with a mutant in it. */
export function mutated(pkg, name) {
  const { changes } = MUTANTS[name];
  const api = (wanted, entry) => {
    const real = pkg.api(wanted, entry);
    return changes[wanted] === undefined ? real : changes[wanted](real);
  };
  return { ...pkg, api };
}
