import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  BadCoding,
  type Coding,
  codingOf,
  decoded,
} from '../../../../src/http/body/content-coding.ts';

const TEXT = Buffer.from('{"text":"hello, hello, hello"}');
const CODED: readonly (readonly [Coding, Buffer])[] = [
  ['gzip', zlib.gzipSync(TEXT)],
  ['deflate', zlib.deflateSync(TEXT)],
  ['deflate', zlib.deflateRawSync(TEXT)],
  ['br', zlib.brotliCompressSync(TEXT)],
];

const ignore = () => {};

async function whole(bytes: Buffer, coding: Coding, onBytes: (bytes: number) => void = ignore) {
  const single = Array.from(bytes, (byte) => Buffer.from([byte]));
  const pieces = [];
  for await (const piece of decoded(single, coding, onBytes)) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('a compressed body', () => {
  it.each(CODED)(
    'a compressed body of %s is decoded to the original, wherever it is cut',
    async (coding, bytes) => {
      expect((await whole(bytes, coding)).equals(TEXT)).toBe(true);
    },
  );

  it.each(CODED)(
    'a compressed body of %s that is cut short or invalid is refused',
    async (coding, bytes) => {
      await expect(whole(bytes.subarray(0, -6), coding)).rejects.toBeInstanceOf(BadCoding);
      await expect(whole(Buffer.from('{"text":1}'), coding)).rejects.toBeInstanceOf(BadCoding);
    },
  );

  it('a compressed body of no bytes is empty', async () => {
    expect(await whole(Buffer.alloc(0), 'gzip')).toHaveLength(0);
  });

  it('a compressed body that would be a gigabyte is decoded no further than its reader allows', async () => {
    // A better quality takes seconds, and no fewer bytes.
    const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 };
    const bomb = zlib.brotliCompressSync(Buffer.alloc(64 * 1024 * 1024), { params });
    expect(bomb.length).toBeLessThan(1_000);
    let seen = 0;
    const reading = whole(bomb, 'br', (bytes) => {
      seen += bytes;
      if (seen > 100_000) throw new Error('enough');
    });
    await expect(reading).rejects.toThrow('enough');
    expect(seen).toBeLessThan(300_000);
  });

  it('a compressed body ends with the error of its source', async () => {
    async function* broken() {
      yield zlib.gzipSync(TEXT).subarray(0, 12);
      throw new Error('gone');
    }
    const read = async () => {
      for await (const _ of decoded(broken(), 'gzip', ignore));
    };
    await expect(read()).rejects.toThrow('gone');
  });
});

describe('a Content-Encoding', () => {
  it('a Content-Encoding is recognised in any case, and `identity` counts as no encoding', () => {
    expect([codingOf('GZIP'), codingOf('x-gzip'), codingOf(' br '), codingOf('deflate')]).toEqual([
      'gzip',
      'gzip',
      'br',
      'deflate',
    ]);
    expect([codingOf(undefined), codingOf(''), codingOf('identity')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('an unsupported Content-Encoding is refused with a 415 that names the supported encodings', () => {
    for (const odd of ['compress', 'gzip, br', 'aws-chunked']) {
      expect(() => codingOf(odd)).toThrow(
        expect.objectContaining({
          status: 415,
          error: 'unsupported_content_encoding',
          headers: { 'accept-encoding': expect.stringMatching(/^gzip, deflate, br(, zstd)?$/) },
        }),
      );
    }
  });

  it('a Content-Encoding of zstd is decoded where this Node.js supports it, and is a 415 elsewhere', async () => {
    const compress = (zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer }).zstdCompressSync;
    if (compress === undefined) {
      expect(() => codingOf('zstd')).toThrow(expect.objectContaining({ status: 415 }));
      return;
    }
    expect((await whole(compress(TEXT), codingOf('zstd') ?? 'br')).equals(TEXT)).toBe(true);
  });
});
