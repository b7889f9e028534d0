import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeContent, readBounded } from '../../../../src/platform/egress/read-body.ts';
import { BodyTooLarge } from '../../../../src/platform/egress/send-failed.ts';

const text = Buffer.from('{"x402Version":1,"accepts":[]}');

async function* chunks(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

describe('a body that is read whole', () => {
  it('readBounded joins all chunks up to the limit and refuses a byte more', async () => {
    expect(Buffer.from(await readBounded(chunks(), 0)).toString()).toBe('');
    expect(Buffer.from(await readBounded(chunks('ab', '', 'cde'), 5)).toString()).toBe('abcde');
    await expect(readBounded(chunks('ab', 'cde'), 4)).rejects.toBeInstanceOf(BodyTooLarge);
  });

  it('readBounded stops reading at the limit', async () => {
    let asked = 0;
    let isLeft = false;
    async function* endless() {
      try {
        for (;;) {
          asked++;
          yield Buffer.alloc(10);
        }
      } finally {
        isLeft = true;
      }
    }
    await expect(readBounded(endless(), 25)).rejects.toBeInstanceOf(BodyTooLarge);
    expect({ asked, isLeft }).toEqual({ asked: 3, isLeft: true });
  });
});

describe('a coded body', () => {
  it('decodeContent decodes each content coding, and two in a row', () => {
    for (const [coding, bytes] of [
      [undefined, text],
      ['', text],
      ['identity', text],
      ['gzip', gzipSync(text)],
      ['X-GZIP', gzipSync(text)],
      ['deflate', deflateSync(text)],
      ['deflate', deflateRawSync(text)],
      ['br', brotliCompressSync(text)],
      ['gzip, identity', gzipSync(text)],
      ['gzip, br', brotliCompressSync(gzipSync(text))],
    ] as const) {
      expect(Buffer.from(decodeContent(bytes, coding, 1_000)), coding).toEqual(text);
    }
  });

  it('decodeContent leaves an empty body empty, as in a response to HEAD', () => {
    expect(decodeContent(new Uint8Array(), 'gzip', 10)).toHaveLength(0);
  });

  it('decodeContent refuses more than its limit at any step', () => {
    const bomb = Buffer.alloc(10_000_000);
    for (const [coding, bytes] of [
      ['gzip', gzipSync(bomb)],
      ['deflate', deflateSync(bomb)],
      ['br', brotliCompressSync(bomb)],
      ['gzip, gzip', gzipSync(gzipSync(bomb))],
      [undefined, text],
    ] as const) {
      const max = coding === undefined ? text.length - 1 : 100_000;
      expect(() => decodeContent(bytes, coding, max), coding).toThrow(BodyTooLarge);
    }
    expect(decodeContent(gzipSync(text), 'gzip', text.length)).toHaveLength(text.length);
  });

  it('decodeContent refuses a broken body or an unknown coding as undecodable', () => {
    for (const [coding, bytes] of [
      ['gzip', text],
      ['gzip', gzipSync(text).subarray(0, 20)],
      ['br', text],
      ['deflate', Buffer.from([0xff, 0xff])],
      ['zstd', text],
      ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(text)))],
    ] as const) {
      expect(() => decodeContent(bytes, coding, 1_000), coding).toThrow(
        expect.objectContaining({ name: 'UndecodableBody' }),
      );
    }
  });
});
