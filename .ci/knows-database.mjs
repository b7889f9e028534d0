// Prints the test files from which a support module can be reached that opens the database of the run.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const OPENS_DATABASE = /\binject\('test(Server|Template)'\)/;
const IMPORT = /(?:from|import\()\s*'(\.[^']+)'/g;

const read = new Map();
function look(file) {
  const before = read.get(file);
  if (before !== undefined) return before;
  const text = readFileSync(file, 'utf8');
  const imported = [...text.matchAll(IMPORT)].map(([, path]) => resolve(dirname(file), path));
  const found = {
    opens: OPENS_DATABASE.test(text),
    next: imported.filter((path) => path.includes('/test/') && existsSync(path)),
  };
  read.set(file, found);
  return found;
}

function knowsDatabase(file) {
  const seen = new Set([file]);
  for (const at of seen) {
    const { opens, next } = look(at);
    if (opens) return true;
    for (const path of next) seen.add(path);
  }
  return false;
}

const files = ['integration', 'e2e', 'process', 'timed', 'two-process']
  .map((folder) => `test/${folder}`)
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.test.ts') && knowsDatabase(resolve(file)))
  .sort();
if (files.length === 0) throw new Error('no test knows a database');
console.log(files.join('\n'));
