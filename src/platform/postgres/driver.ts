import { readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import type postgres from 'postgres';

/** Corrections of the driver's faults: a diff that names the reason of each and its report. */
const PATCH = 'postgres+3.4.9.patch';

type Compiling = Module & { _compile(source: string, file: string): void };

/** Database driver with its patch. Loading throws for a driver of another version than the patch's. */
export const driver: typeof postgres = loadPatched();

function loadPatched(): typeof postgres {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('postgres');
  const patch = readFileSync(join(import.meta.dirname, PATCH), 'utf8');
  // Each file of the driver finds the files that it requires patched already.
  compile(require, join(dirname(entry), 'connection.js'), patch);
  return compile(require, entry, patch) as typeof postgres;
}

/** Loads one file of the driver with the patch applied, for itself and for files that require it. Returns its exports. */
function compile(require: NodeJS.Require, file: string, patch: string): unknown {
  const patched = new Module(file) as Compiling;
  patched.filename = file;
  patched.paths = require.resolve.paths('postgres') ?? [];
  require.cache[file] = patched;
  const name = file.slice(file.lastIndexOf('node_modules'));
  patched._compile(applyPatch(readFileSync(file, 'utf8'), patch, name), file);
  return patched.exports;
}

/**
 * Applies the part of a unified diff that changes one file. Throws when a line does not stand where the diff has it, as with a
 * diff of another version, or when the diff does not name the file.
 *
 * @internal Tests apply the patch to other versions of the driver.
 */
export function applyPatch(source: string, patch: string, name: string): string {
  const lines = source.split('\n');
  const result: string[] = [];
  let at = 0;
  const [, hunks] = patch.split(`\n+++ b/${name}\n`);
  if (hunks === undefined)
    throw new Error(`The patch of the database driver has nothing for ${name}.`);
  for (const line of hunks.split('\ndiff --git ')[0]?.trimEnd().split('\n') ?? []) {
    const start = /^@@ -(\d+)/.exec(line)?.[1];
    if (start !== undefined) {
      result.push(...lines.slice(at, Number(start) - 1));
      at = Number(start) - 1;
    } else if (line.startsWith('+')) {
      result.push(line.slice(1));
    } else {
      if (lines[at++] !== line.slice(1)) {
        throw new Error('The database driver is not the version that its patch is for.');
      }
      if (!line.startsWith('-')) result.push(line.slice(1));
    }
  }
  return [...result, ...lines.slice(at)].join('\n');
}
