import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { applyPatch } from '../../../../src/platform/postgres/driver.ts';
import { openSql } from '../../../../src/platform/postgres/sql.ts';

it('a database server that closes every connection it accepts is retried at a bounded pace', async () => {
  let accepted = 0;
  const server = createServer((socket) => {
    accepted++;
    socket.on('error', () => {}).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sql = openSql({ kind: 'url', url: `postgres://nobody@127.0.0.1:${port}/none` }, 2);
  const asked = [sql`select 1`, sql`select 2`].map((answer) => answer.catch(() => {}));
  await sleep(1_500);
  // It tries again soon at first, and then ever more rarely.
  expect(accepted).toBeGreaterThan(3);
  expect(accepted).toBeLessThan(50);
  await sql.end({ timeout: 0 });
  server.close();
  await Promise.all(asked);
});

describe('the patch of the driver', () => {
  const entry = createRequire(import.meta.url).resolve('postgres');
  const source = readFileSync(entry, 'utf8');
  const folder = new URL('../../../../src/platform/postgres/', import.meta.url);
  const patch = readFileSync(new URL('postgres+3.4.9.patch', folder), 'utf8');
  const name = 'node_modules/postgres/cjs/src/index.js';

  it('the driver patch adds each of its lines and removes no others', () => {
    const patched = applyPatch(source, patch, name);
    const [, hunks = ''] = patch.split(`+++ b/${name}\n`);
    const lines = (mark: string) =>
      hunks.split('\n').flatMap((line) => (line.startsWith(mark) ? [line.slice(1)] : []));
    for (const line of lines('+')) expect(patched.split('\n')).toContain(line);
    expect(patched.split('\n').length - source.split('\n').length).toBe(
      lines('+').length - lines('-').length,
    );
  });

  it('the driver patch is refused for another driver version and for an unknown file', () => {
    const other = source.replace('let savepoints = 0', 'let savepoints = 1');
    expect(() => applyPatch(other, patch, name)).toThrow('not the version');
    expect(() => applyPatch(`\n${source}`, patch, name)).toThrow('not the version');
    expect(() => applyPatch(source, patch, 'other.js')).toThrow('nothing for other.js');
  });
});
