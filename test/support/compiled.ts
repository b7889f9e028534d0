import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const BUILD = join(ROOT, 'test-results/build');

/**
 * The JavaScript of a source file, by its path from the project's root: `src/main.ts`. A process starts from it in half
 * the time that the TypeScript loader takes. `setup` has to have run.
 */
export const compiled = (file: string): string => join(BUILD, file.replace(/\.ts$/, '.js'));

/** Compiles the server and the processes that tests and benches start, once before a run. Checks no types. */
export function setup(): void {
  rmSync(BUILD, { recursive: true, force: true });
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'test/tsconfig.json'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  for (const file of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (/\.(?:mjs|patch)$/.test(file)) cpSync(join(ROOT, 'src', file), join(BUILD, 'src', file));
  }
}
