import { describe, expect, it } from 'vitest';
import { createTurns, endTurn, takeTurn } from '../../../../src/engines/vad/turns.ts';

describe('turns', () => {
  it('compute turns let as many threads compute as there are places, and the next when one has ended', () => {
    const turns = createTurns(2);
    const [a, b, c] = [turns.pass(), turns.pass(), turns.pass()];
    takeTurn(a);
    takeTurn(b);
    endTurn(a);
    takeTurn(c);
    endTurn(b);
    endTurn(c);
    takeTurn(a);
  });

  it('compute turns have at least one place, and count an end only where there was a turn', () => {
    const turns = createTurns(0);
    const pass = turns.pass();
    endTurn(pass);
    for (let i = 0; i < 1_000; i++) {
      takeTurn(pass);
      endTurn(pass);
      endTurn(pass);
    }
    const words = new Int32Array(pass.memory);
    expect([words[0], words[1]]).toEqual([1_000, 1_000]);
  });

  it('compute turns never give two live threads one holder, however many threads came and went', () => {
    const turns = createTurns(1);
    const idle = turns.pass();
    for (let i = 0; i < 1_000; i++) {
      const next = turns.pass();
      expect(next.holder).not.toBe(idle.holder);
      takeTurn(next);
      endTurn(idle);
      endTurn(next);
      turns.giveBack(next);
    }
    const words = new Int32Array(idle.memory);
    expect([words[0], words[1]]).toEqual([1_000, 1_000]);
  });

  it('the compute turn of a dead thread is ended, and its holder begins without a turn', () => {
    const turns = createTurns(1);
    for (let i = 0; i < 200; i++) {
      const dying = turns.pass();
      takeTurn(dying);
      turns.giveBack(dying);
    }
    const words = new Int32Array(turns.pass().memory);
    expect([words[0], words[1]]).toEqual([200, 200]);
  });

  it('compute turns throw without a free holder, and when a holder is given back twice', () => {
    const turns = createTurns(1);
    const passes = Array.from({ length: 64 }, () => turns.pass());
    expect(new Set(passes.map(({ holder }) => holder)).size).toBe(64);
    expect(() => turns.pass()).toThrow(/at most 64/);
    const [first] = passes;
    if (first !== undefined) turns.giveBack(first);
    expect(() => first && turns.giveBack(first)).toThrow(/once/);
    expect(turns.pass().holder).toBe(first?.holder);
  });
});
