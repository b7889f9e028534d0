// Prints the test files that the run on PostgreSQL plays again: from them a support module can be reached that opens the
// database of the run, or that says whether to play every row of a battery. A test with a database of its own is left out.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const DIFFERS = /\binject\('test(Server|Template)'\)|\bTEST_EXHAUSTIVE\b/;
/** A database of the test's own, wherever the run has its database. */
const OWN_DATABASE = /support\/pgvector-server\.ts'/;
const IMPORT = /(?:from|import\()\s*'(\.[^']+)'/g;

const read = new Map();
function look(file) {
  const before = read.get(file);
  if (before !== undefined) return before;
  const text = readFileSync(file, 'utf8');
  const imported = [...text.matchAll(IMPORT)].map(([, path]) => resolve(dirname(file), path));
  const found = {
    differs: DIFFERS.test(text),
    next: imported.filter((path) => path.includes('/test/') && existsSync(path)),
  };
  read.set(file, found);
  return found;
}

function isPlayedAgain(file) {
  if (OWN_DATABASE.test(readFileSync(file, 'utf8'))) return false;
  const seen = new Set([file]);
  for (const at of seen) {
    const { differs, next } = look(at);
    if (differs) return true;
    for (const path of next) seen.add(path);
  }
  return false;
}

const files = ['integration', 'e2e', 'process', 'two-process']
  .map((folder) => `test/${folder}`)
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.test.ts') && isPlayedAgain(resolve(file)))
  .sort();
if (files.length === 0) throw new Error('no test is played again');
console.log(files.join('\n'));
