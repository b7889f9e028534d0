import { beforeEach, describe, expect, it } from 'vitest';
import { MarkWaits } from '../../../../../src/phone/voice/line/mark-waits.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

let clock: ManualClock;
let waits: MarkWaits;
let done: string[];
const noting = (name: string) => () => done.push(name);

beforeEach(() => {
  clock = new ManualClock();
  waits = new MarkWaits(clock);
  done = [];
});

describe('what waits for the echo of a mark at the latest', () => {
  it('a task with a mark and a deadline runs once at its mark, even when the audio of the mark was cleared', () => {
    waits.atLatest(noting('a'), 1_000);
    waits.arm('1');
    waits.echoed('0', true);
    expect(done).toEqual([]);
    waits.echoed('1', false);
    waits.echoed('1', true);
    clock.advance(2_000);
    expect(done).toEqual(['a']);
  });

  it('a task with a mark and a deadline runs at the deadline when no mark is echoed, or when it is cut short', () => {
    waits.atLatest(noting('timed'), 1_000);
    waits.arm('1');
    clock.advance(1_000);
    waits.atLatest(noting('cut'), 1_000);
    waits.arm('2');
    waits.cutShort();
    clock.advance(1_000);
    expect(done).toEqual(['timed', 'cut']);
  });

  it('a task with a mark and a deadline never runs once it is forgotten or replaced', () => {
    waits.atLatest(noting('replaced'), 1_000);
    waits.arm('1');
    waits.atLatest(noting('forgotten'), 1_000);
    waits.arm('2');
    waits.forget();
    waits.echoed('1', true);
    waits.echoed('2', true);
    clock.advance(2_000);
    expect(done).toEqual([]);
  });

  it('a task that is disarmed waits for the mark and the deadline of the next arming', () => {
    waits.atLatest(noting('a'), 1_000);
    waits.arm('1');
    waits.disarm();
    waits.echoed('1', true);
    clock.advance(2_000);
    expect([waits.isWaiting, done]).toEqual([true, []]);
    waits.arm('2');
    clock.advance(999);
    expect(done).toEqual([]);
    waits.echoed('2', true);
    expect([waits.isWaiting, done]).toEqual([false, ['a']]);
  });
});

describe('what waits for a mark alone', () => {
  it('a task that waits for a mark alone runs once the audio before the mark was played', () => {
    waits.onlyAt('1', noting('a'));
    clock.advance(60_000);
    waits.echoed('1', true);
    waits.echoed('1', true);
    expect(done).toEqual(['a']);
  });

  it('a task that waits for a mark alone never runs when the audio is cleared', () => {
    waits.onlyAt('1', noting('echoed at the clear'));
    waits.echoed('1', false);
    waits.cleared();
    waits.echoed('1', true);
    expect(done).toEqual([]);
  });
});
