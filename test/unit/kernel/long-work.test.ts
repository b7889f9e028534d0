import { describe, expect, it } from 'vitest';
import { COPY_BYTES_PER_TURN, joinPieces, turnForLongWork } from '../../../src/kernel/long-work.ts';

describe('long work', () => {
  it('each piece of long work has an event-loop turn, with other work in between', async () => {
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

  it('few bytes are joined at once and many bytes over event-loop turns, with the same result', async () => {
    const small = [Buffer.from('ab'), Buffer.from(''), Buffer.from('c')];
    expect(joinPieces(small)).toEqual(Buffer.from('abc'));
    expect(joinPieces([])).toHaveLength(0);
    const piece = Buffer.alloc(COPY_BYTES_PER_TURN + 7, 'x');
    const many = [Buffer.from('a'), piece, Buffer.from('b'), piece];
    const joining = joinPieces(many);
    expect(joining).toBeInstanceOf(Promise);
    expect((await joining).equals(Buffer.concat(many))).toBe(true);
  });
});
