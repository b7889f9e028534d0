import { describe, expect, it } from 'vitest';
import { OggOpusWriter } from '../../../media/ogg/ogg-opus.ts';
import { OggPages } from '../../../media/ogg/ogg-pages.ts';

const packet = (bytes: number, granule: number) => ({ bytes: Buffer.alloc(bytes, 7), granule });

function pagesOf(file: Buffer) {
  const pages: { flags: number; granule: number; number: number; lacing: number[] }[] = [];
  for (let at = 0; at < file.length; ) {
    expect(file.toString('latin1', at, at + 4)).toBe('OggS');
    const lacing = [...file.subarray(at + 27, at + 27 + (file[at + 26] ?? 0))];
    pages.push({
      flags: file[at + 5] ?? 0,
      granule: Number(file.readBigUInt64LE(at + 6)),
      number: file.readUInt32LE(at + 18),
      lacing,
    });
    at += 27 + lacing.length + lacing.reduce((sum, size) => sum + size, 0);
  }
  return pages;
}

describe('pages of an Ogg stream', () => {
  it('Ogg pages have the checksum of the polynomial, taken bit by bit', () => {
    const page = Buffer.from(new OggPages(0x0102_0304).write([packet(0, 0)], { ends: true }));
    const crc = page.readUInt32LE(22);
    page.writeUInt32LE(0, 22);
    let expected = 0;
    for (const byte of page) {
      expected ^= byte << 24;
      for (let bit = 0; bit < 8; bit++) {
        expected = (expected << 1) ^ (expected & 0x8000_0000 ? 0x04c1_1db7 : 0);
      }
    }
    expect(crc).toBe(expected >>> 0);
  });

  it('Ogg pages lay packets into segments, with an empty segment behind a multiple of 255 bytes', () => {
    const [page] = pagesOf(Buffer.from(new OggPages(1).write([packet(254, 1), packet(510, 2)])));
    expect(page?.lacing).toEqual([254, 255, 255, 0]);
    expect(page).toMatchObject({ flags: 2, granule: 2, number: 0 });
  });

  it('Ogg pages are as many as the segments need, numbered, and the last one alone ends the stream', () => {
    const packets = Array.from({ length: 400 }, (_, i) => packet(10, i + 1));
    const pages = pagesOf(Buffer.from(new OggPages(1).write(packets, { ends: true })));
    expect(pages.map(({ flags, granule, number }) => [flags, granule, number])).toEqual([
      [2, 255, 0],
      [4, 400, 1],
    ]);
  });

  it('no Ogg pages are written without a packet', () => {
    expect(new OggPages(1).write([])).toHaveLength(0);
  });
});

describe('Opus in Ogg', () => {
  it('Opus in Ogg states the samples skipped at its beginning and where its sound ends', () => {
    const writer = new OggOpusWriter({ inputHz: 24_000, lookahead: 156, serial: 1 });
    const frame = Buffer.alloc(40);
    const file = Buffer.concat([
      writer.head(),
      writer.sound([frame, frame], 480),
      writer.end([frame, frame], 480, 1_000),
    ]);
    expect(file.toString('latin1', 28, 36)).toBe('OpusHead');
    expect([file[36], file[37], file.readUInt16LE(38), file.readUInt32LE(40)]).toEqual([
      1, 1, 312, 24_000,
    ]);
    expect(pagesOf(file).map(({ flags, granule }) => [flags, granule])).toEqual([
      [2, 0],
      [0, 0],
      [0, 1_920],
      [4, 312 + 2_000],
    ]);
  });
});
