import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  dataDirectoryIn,
  handOver,
  inspectCluster,
} from '../../../../../src/platform/postgres/embedded/cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'svc-cluster-'));
afterAll(() => rmSync(scratch, { recursive: true }));

function directoryWith(name: string, version?: string): string {
  const directory = join(scratch, name);
  mkdirSync(dataDirectoryIn(directory), { recursive: true });
  if (version !== undefined) {
    writeFileSync(join(dataDirectoryIn(directory), 'PG_VERSION'), version);
  }
  return directory;
}

describe('the data in a directory', () => {
  it('a directory that is absent or has only foreign files holds no database cluster', async () => {
    expect(await inspectCluster(join(scratch, 'absent'))).toBeUndefined();
    mkdirSync(join(scratch, 'mount/lost+found'), { recursive: true });
    expect(await inspectCluster(join(scratch, 'mount'))).toBeUndefined();
  });

  it('a readable database cluster belongs to the owner of its directory', async () => {
    const directory = directoryWith('good', '18\n');
    expect(await inspectCluster(directory)).toBe(statSync(directory).uid);
  });

  it('a database cluster of another version, or a directory that is no cluster, is refused', async () => {
    await expect(inspectCluster(directoryWith('old', '17\n'))).rejects.toThrow('PostgreSQL 17');
    await expect(inspectCluster(directoryWith('none'))).rejects.toThrow('is no PostgreSQL');
  });

  it('a database cluster that belongs to its user already is not handed over', async () => {
    const data = dataDirectoryIn(directoryWith('own', '18\n'));
    const before = statSync(data).ctimeMs;
    await handOver(data, { prefix: [], account: undefined, byHandle: false, copyBinaries: false });
    expect(statSync(data).ctimeMs).toBe(before);
  });
});
