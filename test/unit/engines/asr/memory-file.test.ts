import { describe, expect, it } from 'vitest';
import { MemoryFile } from '../../../../src/engines/asr/memory-file.ts';

describe('memory file', () => {
  it('writes over its own beginning, as a header is filled in at the end', () => {
    const file = new MemoryFile(1_000_000);
    file.write(new Uint8Array(100_000).fill(1));
    expect(file.seek(2, 0)).toBe(2);
    file.write(Uint8Array.of(9, 9));
    expect(file.seek(0, 2)).toBe(100_000);
    expect([...file.contents().subarray(0, 5)]).toEqual([1, 1, 9, 9, 1]);
    expect(file.contents().length).toBe(100_000);
  });

  it('refuses to grow beyond its bound', () => {
    const file = new MemoryFile(10);
    file.write(new Uint8Array(10));
    expect(() => file.write(new Uint8Array(1))).toThrow(RangeError);
  });
});
