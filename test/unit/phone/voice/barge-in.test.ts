import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';
import { BargeIn } from '../../../../src/phone/voice/barge-in.ts';

const LOUD_MS = LIMITS.phone.bargeInMs;
const OVER = { mayInterrupt: true };

let done: string[];
let bargeIn: BargeIn;
let clock: ManualClock;

beforeEach(() => {
  done = [];
  clock = new ManualClock();
  const note = (name: string) => () => void done.push(name);
  bargeIn = new BargeIn({
    clock,
    line: {
      isPlaying: true,
      pause: note('pause'),
      resume: note('resume'),
      holdEnd: note('hold'),
      releaseEnd: note('release'),
      forgetAfterPlayed: note('forget'),
    },
    isAnswering: () => true,
    interrupt: note('interrupt'),
  });
});

/** What was done since the last look. */
const since = (): string[] => done.splice(0);

function pauses(itemId: string): void {
  bargeIn.speechStarted(itemId, OVER);
  bargeIn.loud(LOUD_MS);
}

describe('utterances that overlap their transcripts', () => {
  it('keep the line paused and its end held until the last of them has its words', () => {
    pauses('a');
    pauses('b');
    since();
    bargeIn.heard('a', 'mhm');
    expect([bargeIn.isAddressed, since()]).toEqual([false, ['pause']]);
    bargeIn.heard('b', 'okay');
    expect([bargeIn.isAddressed, since()]).toEqual([false, ['resume', 'release']]);
  });

  it('interrupt each for itself', () => {
    pauses('a');
    bargeIn.speechStarted('b', OVER);
    since();
    bargeIn.heard('a', 'stop it');
    expect([bargeIn.isAddressed, since()]).toEqual([true, ['forget', 'interrupt', 'resume']]);
    expect(bargeIn.isMeasuring).toBe(true);
    bargeIn.loud(LOUD_MS);
    bargeIn.heard('b', 'stop it now');
    expect(since()).toEqual(['pause', 'forget', 'interrupt', 'resume', 'release']);
  });

  it('are at most 16: the oldest then lets the answer go on', () => {
    pauses('0');
    for (let n = 1; n < 16; n++) bargeIn.speechStarted(`${n}`, OVER);
    expect(since()).not.toContain('resume');
    bargeIn.speechStarted('16', OVER);
    expect(since()).toEqual(['hold', 'resume']);
    bargeIn.heard('0', 'stop it');
    expect([bargeIn.isAddressed, since()]).toEqual([true, []]);
  });
});

it('an utterance that is dropped lets the answer and its end go on', () => {
  pauses('a');
  since();
  bargeIn.forgotten('a');
  bargeIn.forgotten('a');
  expect(since()).toEqual(['resume', 'release']);
});

it('a pause without an end is taken back after 8 seconds, and the words after it are answered', () => {
  pauses('a');
  since();
  clock.advance(8_000);
  expect(since()).toEqual(['resume']);
  bargeIn.heard('a', 'so that is why');
  expect([bargeIn.isAddressed, since()]).toEqual([true, ['forget', 'resume', 'release']]);
});

it('once it is closed, nothing that is heard changes what waits for the end of the line', () => {
  pauses('a');
  bargeIn.close();
  since();
  bargeIn.heard('a', 'stop it');
  bargeIn.interim('a', 'stop it');
  clock.advance(8_000);
  expect([bargeIn.isMeasuring, since()]).toEqual([false, []]);
});
