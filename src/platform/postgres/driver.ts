import { readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import type postgres from 'postgres';

type Repair = readonly [wrong: string, right: string];

/**
 * What version 3.4.9 gets wrong when a connection is lost, and how it is put right. A write that waits for its
 * turn is called off but stays noted as waiting, so that the connection never writes again; and a statement
 * that comes after the loss, such as the rollback, is written to nothing, which ends the process.
 */
const REPAIRS: readonly Repair[] = [
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

/**
 * A connection that is accepted and hung up on before it was ready, as by a proxy whose server is away, is made again at
 * once: hundreds a second, which take this process' time and fill the line that the server finds when it is back. It
 * counts as a failure instead, and waits as after any other.
 */
const HUNG_UP_IS_A_FAILURE: readonly Repair[] = [
  ['if (initial)\n      return reconnect()', 'if (initial)\n      hadError = true'],
  ['onclose(connection, Errors', 'if (initial) return reconnect()\n    onclose(connection, Errors'],
];

/**
 * The pool hands out the connection that has rested longest, so that each of them finds its part of the server out of
 * the processor's caches. The connection that rested last is quicker by a third for a lone query.
 */
const LAST_FIRST: readonly Repair[] = [
  [
    ', open = Queue()',
    `, open = (rest => ({
        get length() { return rest.length },
        push: c => (rest.push(c), c),
        shift: () => rest.pop(),
        remove: c => rest.includes(c) ? rest.splice(rest.indexOf(c), 1)[0] : null
      }))([])`,
  ],
];

/**
 * A transaction whose connection is lost keeps hold of it, and the pool connects it again for another caller: what the
 * transaction still says would be carried out there by itself, and its answer be taken for that of another's statement.
 */
const LOST_IS_LOST: readonly Repair[] = [
  ['let savepoints = 0\n', 'let savepoints = 0, lost = null\n'],
  ['connection.onclose = reject)', 'connection.onclose = error => (lost = error, reject(error)))'],
  [
    'uncaughtError = e))\n        c.queue === full',
    'uncaughtError = e))\n        lost ? q.reject(lost) : c.queue === full',
  ],
];

type Compiling = Module & { _compile(source: string, file: string): void };

/** The database driver with its repairs. Another version than the one they were made for is refused. */
export const driver: typeof postgres = loadRepaired();

function loadRepaired(): typeof postgres {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('postgres');
  compile(require, join(dirname(entry), 'connection.js'), [...REPAIRS, ...HUNG_UP_IS_A_FAILURE]);
  return compile(require, entry, [...LAST_FIRST, ...LOST_IS_LOST]) as typeof postgres;
}

/** Loads one file of the driver with its repairs, for itself and for those that require it. */
function compile(require: NodeJS.Require, file: string, repairs: readonly Repair[]): unknown {
  const repaired = new Module(file) as Compiling;
  repaired.filename = file;
  repaired.paths = require.resolve.paths('postgres') ?? [];
  require.cache[file] = repaired;
  repaired._compile(repair(readFileSync(file, 'utf8'), repairs), file);
  return repaired.exports;
}

function repair(source: string, repairs: readonly Repair[]): string {
  return repairs.reduce((text, [wrong, right]) => {
    if (text.split(wrong).length !== 2) {
      throw new Error('The database driver is not the version that its repairs are for.');
    }
    return text.replace(wrong, () => right);
  }, source);
}
