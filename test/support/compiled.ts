import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const BUILD = join(ROOT, 'test-results/build');

/**
 * The JavaScript of a source file, by its path from the project's root: `src/main.ts`. A process starts from it in half
 * the time that the TypeScript loader takes.
 */
export const compiled = (file: string): string => join(BUILD, file.replace(/\.ts$/, '.js'));

/** Compiles the server and the child processes of the tests once, before the first test of a run. Checks no types. */
export function setup(): void {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'test/tsconfig.json'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  for (const file of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.mjs')) cpSync(join(ROOT, 'src', file), join(BUILD, 'src', file));
  }
}
