import { join } from 'node:path';
import { compile, ROOT } from '../../src/app/commands/compile.ts';

const BUILD = join(ROOT, 'test-results/build');

/** Each project loads this module anew, so that only the process can know that it has compiled. */
const run = globalThis as { isCompiled?: boolean };

/**
 * The JavaScript of a source file, by its path from the project's root: `src/main.ts`. A process starts from it in half
 * the time that the TypeScript loader takes. `setup` has to have run.
 */
export const compiled = (file: string): string => join(BUILD, file.replace(/\.ts$/, '.js'));

/** Compiles the server and the processes that tests and benches start, once before a run. Checks no types. */
export function setup(): void {
  if (run.isCompiled) return;
  compile('test/tsconfig.json', BUILD);
  run.isCompiled = true;
}
