import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binariesIn } from '../../../../../src/platform/postgres/embedded/binaries.ts';
import { copyBinaries } from '../../../../../src/platform/postgres/embedded/copy-binaries.ts';

function closedPackage() {
  const root = mkdtempSync(join(tmpdir(), 'svc-package-'));
  mkdirSync(join(root, 'bin'), { mode: 0o700 });
  mkdirSync(join(root, 'share'), { mode: 0o700 });
  writeFileSync(join(root, 'bin/postgres'), '#!/bin/sh\n', { mode: 0o700 });
  writeFileSync(join(root, 'share/words'), 'text', { mode: 0o600 });
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true }) };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('a copy of the binaries', () => {
  it('a copy of the database binaries is made once and can be run and read by every user', async () => {
    using source = closedPackage();
    const copy = await copyBinaries(binariesIn(source.root));
    try {
      expect(modeOf(copy.root)).toBe(0o755);
      expect(modeOf(copy.postgres)).toBe(0o755);
      expect(modeOf(join(copy.root, 'share/words'))).toBe(0o644);
      writeFileSync(join(copy.root, 'mark'), '');
      const [again, atOnce] = await Promise.all([
        copyBinaries(binariesIn(source.root)),
        copyBinaries(binariesIn(source.root)),
      ]);
      expect([again, atOnce]).toEqual([copy, copy]);
      expect(existsSync(join(copy.root, 'mark'))).toBe(true);
    } finally {
      rmSync(copy.root, { recursive: true, force: true });
    }
  });

  it('a copy of the database binaries that another user could have altered is refused', async () => {
    using source = closedPackage();
    const copy = await copyBinaries(binariesIn(source.root));
    try {
      chmodSync(copy.root, 0o777);
      await expect(copyBinaries(binariesIn(source.root))).rejects.toThrow('another user');
    } finally {
      rmSync(copy.root, { recursive: true, force: true });
    }
  });
});
