import { describe, expect, it } from 'vitest';
import { createSeededRandom, randomHex, systemRandom } from '../../../src/kernel/random.ts';

describe('systemRandom', () => {
  it('gives as many bytes as asked for, and not the same twice', () => {
    expect(systemRandom.bytes(32)).toHaveLength(32);
    expect(randomHex(systemRandom, 16)).not.toBe(randomHex(systemRandom, 16));
  });

  it('never gives the same bytes out again, however many are asked for', () => {
    const seen = new Set(Array.from({ length: 2_000 }, () => randomHex(systemRandom, 12)));
    expect(seen.size).toBe(2_000);
    expect(systemRandom.bytes(10_000)).toHaveLength(10_000);
    expect(systemRandom.bytes(16).some((byte) => byte !== 0)).toBe(true);
  });
});

describe('createSeededRandom', () => {
  it('gives the same bytes for the same seed however they are asked for, and others for another', () => {
    const seed = systemRandom.bytes(32);
    const [one, same] = [createSeededRandom(seed), createSeededRandom(seed)];
    const pieces = [one.bytes(5), one.bytes(11)];
    expect(Buffer.concat(pieces)).toEqual(Buffer.from(same.bytes(16)));
    expect(createSeededRandom(systemRandom.bytes(32)).bytes(16)).not.toEqual(
      createSeededRandom(seed).bytes(16),
    );
  });
});
