import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeOnce } from '../../../../../src/app/commands/secrets/write-once.ts';

it('writeOnce writes a file for its owner alone and never overwrites a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'once-'));
  const file = join(directory, '.env.production');
  writeOnce(file, 'first');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(() => writeOnce(file, 'second')).toThrow(`${file} exists and is kept`);
  expect(readFileSync(file, 'utf8')).toBe('first');
  rmSync(directory, { recursive: true });
});
