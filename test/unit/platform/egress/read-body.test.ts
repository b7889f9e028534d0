import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  decodeContent,
  readBounded,
  UndecodableBody,
} from '../../../../src/platform/egress/read-body.ts';
import { BodyTooLarge } from '../../../../src/platform/egress/send-failed.ts';

const text = Buffer.from('{"x402Version":1,"accepts":[]}');

async function* chunks(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

describe('a body that is read whole', () => {
  it('is its chunks together, up to the bound and not a byte beyond', async () => {
    expect(Buffer.from(await readBounded(chunks(), 0)).toString()).toBe('');
    expect(Buffer.from(await readBounded(chunks('ab', '', 'cde'), 5)).toString()).toBe('abcde');
    await expect(readBounded(chunks('ab', 'cde'), 4)).rejects.toBeInstanceOf(BodyTooLarge);
  });

  it('is left at the bound: the rest is not asked for', async () => {
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
  it('is undone for each coding, and for two', () => {
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

  it('that is empty stays so: an answer to HEAD names its coding too', () => {
    expect(decodeContent(new Uint8Array(), 'gzip', 10)).toHaveLength(0);
  });

  it('is never more than its bound, at any step', () => {
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

  it('that does not decode, or has an unknown coding, is refused as undecodable', () => {
    for (const [coding, bytes] of [
      ['gzip', text],
      ['gzip', gzipSync(text).subarray(0, 20)],
      ['br', text],
      ['deflate', Buffer.from([0xff, 0xff])],
      ['zstd', text],
      ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(text)))],
    ] as const) {
      expect(() => decodeContent(bytes, coding, 1_000), coding).toThrow(UndecodableBody);
    }
  });
});
