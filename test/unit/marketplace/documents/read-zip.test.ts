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

it('reads the files of an archive, also behind a comment', async () => {
  const files = [
    ['a.md', 'one'],
    ['deep/b.json', 'x'.repeat(10_000)],
  ];
  expect(await contents(archive)).toEqual(files);
  expect(await contents(Buffer.concat([archive, Buffer.from('a comment')]))).toEqual(files);
});

it('reads no more of a file than it may, whatever the archive says of it', async () => {
  expect(await contents(archive, 100)).toEqual([
    ['a.md', 'one'],
    ['deep/b.json', undefined],
  ]);
});

it('never reads beyond an archive that was cut or changed', async () => {
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
