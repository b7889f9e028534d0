import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { takeCensus } from '../../../../src/http/server/connection-census.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid';
/** Port 3001 is 0BB9. */
const V4 = [
  HEAD,
  '   0: 0100007F:0BB9 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0',
  '   1: 0100007F:0BB9 0200007F:D431 01 00000000:00000000 00:00000000 00000000     0',
  '   2: 0100007F:0BB9 0200007F:D432 08 00000000:00000000 00:00000000 00000000     0',
  '   3: 0100007F:0BB9 0200007F:D433 06 00000000:00000000 00:00000000 00000000     0',
  '   4: 0200007F:D431 0100007F:0BB9 01 00000000:00000000 00:00000000 00000000     0',
];
const V6 = [
  HEAD,
  '   0: 00000000000000000000000001000000:0BB9 B80D0120010000000000000001000000:D431 01 0',
  '   1: 00000000000000000000000001000000:0BB9 B80D0120010000000000000002000000:D432 01 0',
  '   2: 0000000000000000FFFF00000100007F:0BB9 0000000000000000FFFF00000200007F:D434 01 0',
];

it('the connection census counts every open connection at the port by client network, in IPv4 and IPv6', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'census-'));
  try {
    const tables = [join(folder, 'tcp'), join(folder, 'tcp6')];
    await writeFile(tables[0] as string, `${V4.join('\n')}\n`);
    await writeFile(tables[1] as string, `${V6.join('\n')}\n`);
    const { open, lines } = await takeCensus(3_001, tables);
    expect(lines).toBe(10);
    expect(open).toEqual(
      new Map([
        ['127.0.0.2', 3],
        ['2001:db8:0:1::/64', 2],
      ]),
    );
    await expect(takeCensus(3_001, [join(folder, 'none')])).rejects.toThrow('ENOENT');
  } finally {
    await rm(folder, { recursive: true });
  }
});
