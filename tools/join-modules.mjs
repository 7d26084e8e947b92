/**
 * Joins a program of build/plain/ into one file, with a few chunks beside it:
 *
 *   <program> and all that it imports ─ rolldown ─▶ build/plain/<name>.js, build/plain/<name>-<chunk>.js
 *
 * Tests start hundreds of threads and processes. One that loads some 360 modules one by one takes four times as long to begin as one
 * that loads them joined. The bundle of the package (bundle.mjs) is another thing: it takes too long to be made after each change.
 */
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Modules of packages stay outside. */
const isPackage = (id) => !id.startsWith(".") && !id.startsWith("/");

/** The path of the joined program. */
export async function joinModules(program, name) {
  const build = await rolldown({
    input: program,
    platform: "node",
    external: isPackage,
    checks: { bundlerTimings: false },
    // The files of the package are beside this one (src/base/package-files.ts).
    transform: { define: { OUTRIDER_BUNDLE: "true" } },
  });
  const dir = `${root}build/plain`;
  await build.write({
    dir,
    format: "esm",
    entryFileNames: `${name}.js`,
    chunkFileNames: `${name}-[name].js`,
    comments: false,
  });
  await build.close();
  return `${dir}/${name}.js`;
}
