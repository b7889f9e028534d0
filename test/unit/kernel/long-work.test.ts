import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/kernel/limits.ts';
import { joinPieces, turnForLongWork } from '../../../src/kernel/long-work.ts';

describe('long work', () => {
  it('has a turn of the event loop for each of its pieces, beside other work', async () => {
    let turn = 0;
    let isOver = false;
    const next = () => {
      turn++;
      if (!isOver) setImmediate(next);
    };
    const turns: number[] = [];
    const work = async () => {
      for (let piece = 0; piece < 5; piece++) {
        await turnForLongWork();
        turns.push(turn);
      }
    };
    setImmediate(next);
    await Promise.all([work(), work(), work()]);
    isOver = true;
    expect(turns).toHaveLength(15);
    expect(new Set(turns).size).toBe(15);
  });

  it('joins few bytes at once and many in turns, to the same', async () => {
    const small = [Buffer.from('ab'), Buffer.from(''), Buffer.from('c')];
    expect(joinPieces(small)).toEqual(Buffer.from('abc'));
    expect(joinPieces([])).toHaveLength(0);
    const piece = Buffer.alloc(LIMITS.copyBytesPerTurn + 7, 'x');
    const many = [Buffer.from('a'), piece, Buffer.from('b'), piece];
    const joining = joinPieces(many);
    expect(joining).toBeInstanceOf(Promise);
    expect((await joining).equals(Buffer.concat(many))).toBe(true);
  });
});
