/** The Python that drivers of peers run under: BENCH_PYTHON, or one of the usual places. */
import { spawnSync } from "node:child_process";

/** One that has a package. Asks without loading it, which may take a second. */
export function pythonOf(name: string): string | undefined {
  const given = process.env.BENCH_PYTHON;
  const places = given === undefined ? ["python3", "/usr/bin/python3"] : [given];
  const isThere = `import sys, importlib.util as u; sys.exit(u.find_spec('${name}') is None)`;
  return places.find((python) => {
    const { status } = spawnSync(python, ["-c", isThere], { stdio: "ignore" });
    return status === 0;
  });
}
