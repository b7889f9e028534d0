import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { socketDirectory } from '../../../../../src/platform/postgres/embedded/socket-directory.ts';

const PLAIN = { prefix: [], account: undefined, byHandle: false, copyBinaries: false };

describe('where the socket lies', () => {
  it('the database socket lies in the data folder while its path is short and plain', () => {
    expect(socketDirectory('/srv/app/.data/db/postgres-18', PLAIN)).toBe(
      '/srv/app/.data/db/postgres-18',
    );
  });

  it('the database socket of a long or odd path lies in one short private folder', () => {
    for (const path of [`/srv/${'deep/'.repeat(30)}db`, '/srv/with space,comma/db']) {
      const place = socketDirectory(path, PLAIN);
      try {
        expect(`${place}/.s.PGSQL.5432.lock`.length).toBeLessThan(104);
        expect(socketDirectory(path, PLAIN)).toBe(place);
      } finally {
        rmSync(place, { recursive: true, force: true });
      }
    }
  });

  it('the database socket’s folder is refused where another user could have made it', () => {
    const path = `/srv/${'deeper/'.repeat(30)}db`;
    const place = socketDirectory(path, PLAIN);
    const elsewhere = mkdtempSync(join(tmpdir(), 'svc-trap-'));
    rmSync(place, { recursive: true });
    try {
      symlinkSync(elsewhere, place);
      expect(() => socketDirectory(path, PLAIN)).toThrow('another user');
      rmSync(place);
      mkdirSync(place, { mode: 0o777 });
      expect(() => socketDirectory(path, PLAIN)).toThrow('another user');
    } finally {
      rmSync(place, { recursive: true, force: true });
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });
});
