import { describe, expect, it } from 'vitest';
import { measured } from '../../../../media/duration/measured.ts';

describe('a measured duration', () => {
  it('a measured duration is in whole milliseconds, rounded up except for floating-point errors', () => {
    const ms = [1, 0.0001, 1.0001, 0.1 + 0.2].map((seconds) => {
      const found = measured(seconds);
      return found.kind === 'measured' ? found.durationMs : undefined;
    });
    expect(ms).toEqual([1_000, 1, 1_001, 300]);
  });
});
