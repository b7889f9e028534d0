import { describe, expect, it } from 'vitest';
import { createSeededRandom, randomHex, systemRandom } from '../../../src/kernel/random.ts';

describe('systemRandom', () => {
  it('systemRandom gives the requested number of bytes, and other bytes each time', () => {
    expect(systemRandom.bytes(32)).toHaveLength(32);
    expect(randomHex(systemRandom, 16)).not.toBe(randomHex(systemRandom, 16));
  });

  it('systemRandom never gives the same bytes out again, however many are drawn', () => {
    const seen = new Set(Array.from({ length: 2_000 }, () => randomHex(systemRandom, 12)));
    expect(seen.size).toBe(2_000);
    expect(systemRandom.bytes(10_000)).toHaveLength(10_000);
    expect(systemRandom.bytes(16).some((byte) => byte !== 0)).toBe(true);
  });
});

describe('createSeededRandom', () => {
  it('createSeededRandom gives the same bytes for a seed however they are drawn, and others for another seed', () => {
    const seed = systemRandom.bytes(32);
    const [one, same] = [createSeededRandom(seed), createSeededRandom(seed)];
    const pieces = [one.bytes(5), one.bytes(11)];
    expect(Buffer.concat(pieces)).toEqual(Buffer.from(same.bytes(16)));
    expect(createSeededRandom(systemRandom.bytes(32)).bytes(16)).not.toEqual(
      createSeededRandom(seed).bytes(16),
    );
  });
});
