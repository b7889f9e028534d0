import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { compile, ROOT } from '../../src/app/commands/compile.ts';

export const BUILD = join(ROOT, 'test-results/build');
const JOINED = join(ROOT, 'test-results/joined');

/** What many tests start, many times. */
const STARTED_OFTEN = [
  'src/main.ts',
  'test/support/embedded-child.ts',
  'test/support/gateway-child.ts',
  'test/support/held-server-child.ts',
  'test/support/ledger-child.ts',
  'test/support/relay-flood-child.ts',
  'test/support/roll-up-child.ts',
  'test/support/watched-child.ts',
] as const;

/** Packages that start threads of their own files, or look for files beside them. */
const LEFT_ALONE = ['pino', 'msgpackr', '@energetic-ai/*'];

/** Packages in the older format ask for modules of Node.js by this name. */
const REQUIRE = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);`;

/** Each project loads this module anew, so that only the process can know that it has compiled. */
const run = globalThis as { isCompiled?: boolean };

const scriptOf = (file: string): string => file.replace(/\.ts$/, '.js');

/**
 * The JavaScript of a source file, by its path from the project's root: `src/main.ts`. A process starts from it in half
 * the time that the TypeScript loader takes. `setup` has to have run.
 */
export const compiled = (file: string): string => join(BUILD, scriptOf(file));

/** The same for a worker thread, which starts from a URL. */
export const compiledUrl = (file: string): URL => pathToFileURL(compiled(file));

/**
 * The same JavaScript with all modules of the project and of its packages in a few files, which starts in a third of that
 * time: thousands of files are found, read and compiled one by one otherwise. Workers, engines and what `LEFT_ALONE` names are
 * where they always are.
 */
export const joined = (file: (typeof STARTED_OFTEN)[number]): string =>
  join(JOINED, scriptOf(file));

/** Compiles the server and the processes that tests and benches start, once before a run. Checks no types. */
export async function setup(): Promise<void> {
  if (run.isCompiled) return;
  compile('test/tsconfig.json', BUILD);
  await build({
    entryPoints: STARTED_OFTEN.map(compiled),
    outbase: BUILD,
    outdir: JOINED,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: LEFT_ALONE,
    banner: { js: REQUIRE },
    logLevel: 'warning',
    plugins: [keepPlaces],
  });
  run.isCompiled = true;
}

/** Outside a string, which some code is looked for in. */
const PLACE = /(?<!['"`])\bimport\.meta\.(url|dirname)\b/g;

/** A module that looks for files beside itself finds them where it was compiled to. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.m?js$/ }, async ({ path }) => {
      const places = { url: pathToFileURL(path).href, dirname: dirname(path) };
      const text = await readFile(path, 'utf8');
      return {
        contents: text.replace(PLACE, (_, name: 'url' | 'dirname') => JSON.stringify(places[name])),
      };
    });
  },
};
