import { readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import type postgres from 'postgres';

/**
 * What version 3.4.9 gets wrong when a connection is lost, and how it is put right. A write that waits for its
 * turn is called off but stays noted as waiting, so that the connection never writes again; and a statement
 * that comes after the loss, such as the rollback, is written to nothing, which ends the process.
 */
const REPAIRS: readonly (readonly [wrong: string, right: string])[] = [
  [
    'incomings = null\n    clearImmediate(nextWriteTimer)',
    'incomings = null\n    terminated = true\n    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null',
  ],
  [
    "error(Errors.connection('CONNECTION_DESTROYED', options))\n\n    clearImmediate(nextWriteTimer)",
    "error(Errors.connection('CONNECTION_DESTROYED', options))\n\n    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null",
  ],
  [
    "return queryError(q, Errors.connection('CONNECTION_DESTROYED', options))",
    // Whatever is not true would make the pool take the lost connection for a busy one, for ever.
    "return queryError(q, Errors.connection('CONNECTION_DESTROYED', options)), true",
  ],
  [
    'function nextWrite(fn) {\n',
    'function nextWrite(fn) {\n    if (socket === null) return !!(chunk = nextWriteTimer = null)\n',
  ],
];

type Compiling = Module & { _compile(source: string, file: string): void };

/** The database driver with its repairs. Another version than the one they were made for is refused. */
export const driver: typeof postgres = loadRepaired();

function loadRepaired(): typeof postgres {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('postgres');
  const file = join(dirname(entry), 'connection.js');
  const connection = new Module(file) as Compiling;
  connection.filename = file;
  connection.paths = require.resolve.paths('postgres') ?? [];
  connection._compile(repair(readFileSync(file, 'utf8')), file);
  require.cache[file] = connection;
  return require(entry) as typeof postgres;
}

function repair(source: string): string {
  return REPAIRS.reduce((text, [wrong, right]) => {
    if (text.split(wrong).length !== 2) {
      throw new Error('The database driver is not the version that its repairs are for.');
    }
    return text.replace(wrong, () => right);
  }, source);
}
