import { expect, it } from 'vitest';
import { readEntry, readZip } from '../../../../src/marketplace/documents/read-zip.ts';
import { zipOf } from '../../../support/zip.ts';

const archive = zipOf({ 'a.md': 'one', 'deep/b.json': 'x'.repeat(10_000) });

const contents = async (bytes: Buffer, mostBytes = 20_000) => {
  const entries = readZip(bytes, 10) ?? [];
  return Promise.all(
    entries.map(async (entry) => [
      entry.name,
      (await readEntry(bytes, entry, mostBytes))?.toString(),
    ]),
  );
};

it('the ZIP reader reads all files of an archive, also of one with a trailing comment', async () => {
  const files = [
    ['a.md', 'one'],
    ['deep/b.json', 'x'.repeat(10_000)],
  ];
  expect(await contents(archive)).toEqual(files);
  expect(await contents(Buffer.concat([archive, Buffer.from('a comment')]))).toEqual(files);
});

it('the ZIP reader reads no more of a file than its limit, whatever size the archive states', async () => {
  expect(await contents(archive, 100)).toEqual([
    ['a.md', 'one'],
    ['deep/b.json', undefined],
  ]);
});

it('the ZIP reader never reads beyond the end of a cut or changed archive', async () => {
  for (let length = 0; length < archive.length; length += 7) {
    expect(await contents(archive.subarray(0, length))).toEqual([]);
  }
  for (let at = 0; at < archive.length; at++) {
    const changed = Buffer.from(archive);
    changed[at] = 0xff;
    // It may be anything but a crash or an endless loop.
    await contents(changed);
  }
});
