/** What `npm run bench -- --help` prints: every command and every flag, with what it does where nothing is said. */
export const HELP = `npm run bench -- [command or cases] [flags]

  (nothing)                      the suite: every case, the peers, at most ten minutes; a result file
  <case or suite> ...            some cases by name, at their real sizes; a result file each
  compare <revision> [case ...]  HEAD against another version, in two worktrees, round by round
  check [older.json newer.json]  the newest suite against the one before: better, worse, inconclusive
  instructions [case ...]        instructions instead of time, by perf or valgrind
  report                         the tables and TARGETS.md anew, and the page of the newest suite in build/bench-report

  --list                 every case: what it compares, its sizes, its target
  --smoke                the smallest sizes, in seconds: everything runs and every checksum agrees
  --params name=n,...    only such sizes of the cases
  --rounds <n>           so many rounds; of the suite, at most so many of each size
  --large                the large sizes besides
  --budget <seconds>     of the suite and of instructions (570), of compare (300), of named cases (what all rounds take)
  --limit <seconds>      of a named case: what an observation of a peer may take (600)
  --plan                 only says who would get how much of the suite's time
  --strict               compare: exit code 1 where something got worse
  --write, --no-write    whether files are written: yes, but for --smoke
  --json                 JSON in place of tables: an object a case, a suite or a row
  --no-build             dist/ as it is; else it is built where it is older than its sources
  --help, -h             this

Exit code 1: a case failed, or check found something worse. 2: a word that is not known.
What is measured, how, and against whom: bench/README.md
`;
