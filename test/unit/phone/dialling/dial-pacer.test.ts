import { describe, expect, it } from 'vitest';
import { createDialPacer } from '../../../../src/phone/dialling/dial-pacer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** A line whose turns are noted in their order, with the second at which they came. */
function line(perSecond = 1, longestWaitMs = 10_000) {
  const clock = new ManualClock(0);
  const dials = createDialPacer({ clock, perSecond, longestWaitMs });
  const told: string[] = [];
  const enter = (accountId: string, callId: string): boolean => {
    const place = dials.enter(accountId, callId);
    void place?.turn.then((turn) => told.push(`${callId} ${turn} ${clock.now() / 1_000}`));
    return place !== undefined;
  };
  const advance = async (ms: number) => {
    clock.advance(ms);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { advance, clock, dials, enter, told };
}

describe('the line before a carrier', () => {
  it('the dial queue lets the first call go at once, and one more each second', async () => {
    const { advance, enter, told } = line();
    for (const call of ['a1', 'a2', 'a3']) enter('a', call);
    await advance(0);
    for (let second = 0; second < 3; second++) await advance(1_000);
    expect(told).toEqual(['a1 now 0', 'a2 now 1', 'a3 now 2']);
  });

  it('the dial queue saves up no turns while nobody calls', async () => {
    const { advance, enter, told } = line();
    await advance(60_000);
    for (const call of ['a1', 'a2']) enter('a', call);
    await advance(0);
    expect(told).toEqual(['a1 now 60']);
  });

  it('the dial queue gives accounts alternate turns, however many calls each of them places', async () => {
    const { advance, enter, told } = line();
    for (const call of ['a1', 'a2', 'a3', 'a4']) enter('a', call);
    enter('b', 'b1');
    await advance(0);
    for (let second = 0; second < 4; second++) await advance(1_000);
    expect(told.map((text) => text.slice(0, 2))).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  });

  it('the dial queue takes only calls that fit its longest wait, and drops one of the longest account for a shorter one', async () => {
    const { advance, dials, enter, told } = line(1, 3_000);
    for (const call of ['a0', 'a1', 'a2', 'a3']) expect(enter('a', call)).toBe(true);
    expect(enter('a', 'a4')).toBe(false);
    expect(enter('b', 'b1')).toBe(true);
    expect(enter('b', 'b2')).toBe(false);
    expect(dials.waiting).toBe(3);
    await advance(0);
    expect(told).toEqual(['a0 now 0', 'a3 late 0']);
  });

  it('the dial queue lets no call wait longer than its limit', async () => {
    const { advance, enter, told } = line(0.01, 10_000);
    enter('a', 'a1');
    enter('a', 'a2');
    await advance(0);
    await advance(10_000);
    expect(told).toEqual(['a1 now 0', 'a2 late 10']);
  });

  it('a call that is hung up leaves the dial queue, and its turn goes to the next', async () => {
    const { advance, dials, enter, told } = line();
    for (const call of ['a1', 'a2', 'a3']) enter('a', call);
    dials.leave('a2');
    await advance(1_000);
    expect(told).toEqual(
      ['a1 now 0', 'a2 left 0', 'a3 now 1'].map((text) =>
        expect.stringContaining(text.slice(0, 6)),
      ),
    );
  });
});
