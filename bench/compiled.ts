import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'dist', 'measured');

let isCompiled = false;

/** A module of this folder as production runs it: compiled, with no loader in the process that is measured. */
export function compiled(name: string): URL {
  if (!isCompiled) {
    const options = ['--noEmit', 'false', '--outDir', FOLDER, '--rootDir', ROOT];
    execFileSync('npx', ['tsc', ...options], {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    isCompiled = true;
  }
  return pathToFileURL(join(FOLDER, 'bench', `${name}.js`));
}
