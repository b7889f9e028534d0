import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../../src/kernel/manual-clock.ts';
import { MarkWaits } from '../../../../../src/phone/voice/line/mark-waits.ts';

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
  it('is done once: at its mark, even one whose sound was cleared', () => {
    waits.atLatest(noting('a'), 1_000);
    waits.arm('1');
    waits.echoed('0', true);
    expect(done).toEqual([]);
    waits.echoed('1', false);
    waits.echoed('1', true);
    clock.advance(2_000);
    expect(done).toEqual(['a']);
  });

  it('is done after its time where no mark is echoed, or when it is cut short', () => {
    waits.atLatest(noting('timed'), 1_000);
    waits.arm('1');
    clock.advance(1_000);
    waits.atLatest(noting('cut'), 1_000);
    waits.arm('2');
    waits.cutShort();
    clock.advance(1_000);
    expect(done).toEqual(['timed', 'cut']);
  });

  it('is never done once it is forgotten or replaced', () => {
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

  it('waits on while it is disarmed, and from then on for the mark and the time of the next arming', () => {
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
  it('is done once the sound before it was played', () => {
    waits.onlyAt('1', noting('a'));
    clock.advance(60_000);
    waits.echoed('1', true);
    waits.echoed('1', true);
    expect(done).toEqual(['a']);
  });

  it('is never done where that sound is cleared', () => {
    waits.onlyAt('1', noting('echoed at the clear'));
    waits.echoed('1', false);
    waits.cleared();
    waits.echoed('1', true);
    expect(done).toEqual([]);
  });
});
