import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { migrationsFolder } from '../../../../src/platform/postgres/migrations-folder.ts';

describe('finding the migrations', () => {
  it('the migrations folder is found from the sources and from a build that lies deeper', () => {
    const root = mkdtempSync(join(tmpdir(), 'svc-layout-'));
    try {
      mkdirSync(join(root, 'migrations/meta'), { recursive: true });
      writeFileSync(join(root, 'migrations/meta/_journal.json'), '{}');
      expect(migrationsFolder(join(root, 'dist/src/store'))).toBe(join(root, 'migrations'));
      expect(migrationsFolder(join(root, 'src/store'))).toBe(join(root, 'migrations'));
      expect(migrationsFolder()).toBe(resolve('migrations'));
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('a missing migrations folder is reported in a sentence', () => {
    expect(() => migrationsFolder('/nowhere/at/all')).toThrow('migrations folder is missing');
  });
});
