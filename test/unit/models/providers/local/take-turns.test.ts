import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { takeTurns } from '../../../../../src/models/providers/local/take-turns.ts';

describe('work that takes turns', () => {
  it('long work yields to the event loop after each vectorBytesPerTurn, and not before', async () => {
    let others = 0;
    const other = () => {
      others++;
      setImmediate(other);
    };
    setImmediate(other);
    const turn = takeTurns();
    const quarter = MODEL_LIMITS.embedding.vectorBytesPerTurn / 4;
    for (let i = 0; i < 3; i++) await turn(quarter);
    expect(others).toBe(0);
    await turn(quarter);
    expect(others).toBeGreaterThan(0);
    const before = others;
    await turn(quarter);
    expect(others).toBe(before);
  });
});
