import { expect, it } from 'vitest';
import { LatencyChain } from '../../../../src/phone/records/turn-latency.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const quiet = { stage() {} };

/** A chain, and a clock that is moved on before each step. */
function timed() {
  const clock = new ManualClock();
  const chain = new LatencyChain({ clock, metrics: quiet });
  const after = (ms: number) => {
    clock.advance(ms);
    return chain;
  };
  return { after, chain, clock };
}

it('the latency of a turn has the time of each step, the first audio sent included', () => {
  const { after, chain, clock } = timed();
  after(700).utteranceEnded();
  after(50).heard({ text: 'hi', latencyMs: 550 }, true);
  chain.answerBegan();
  after(200).token();
  after(5).token();
  after(95).audio();
  after(9).audio();
  clock.advance(1);
  expect(chain.take(clock.monotonicMs())).toEqual({
    waitMs: 500,
    transcriptMs: 50,
    firstTokenMs: 200,
    firstAudioMs: 100,
    firstFrameMs: 10,
    totalMs: 860,
  });
  expect(chain.take(clock.monotonicMs())).toBeUndefined();
});

it('an answer without speech before it has no turn latency', () => {
  const { after, chain } = timed();
  chain.answerBegan();
  after(10).token();
  after(10).audio();
  expect(chain.take(20)).toBeUndefined();
});

it('a backchannel has no turn latency, and that of a barge-in counts from the end of its own speech', () => {
  const { after, chain, clock } = timed();
  after(600).utteranceEnded();
  after(0).heard({ text: 'mhm', latencyMs: 500 }, false);
  chain.answerBegan();
  after(10).token();
  after(10).audio();
  expect(chain.take(620)).toBeUndefined();
  after(400).utteranceEnded();
  after(0).heard({ text: 'one', latencyMs: 300 }, true);
  after(600).utteranceEnded();
  after(20).heard({ text: 'two', latencyMs: 520 }, true);
  chain.answerBegan();
  after(10).token();
  after(10).audio();
  expect(chain.take(clock.monotonicMs())).toMatchObject({
    waitMs: 500,
    transcriptMs: 20,
    totalMs: 540,
  });
});

it('an answer that was stopped before its first sound has no turn latency, and leaves none to the next answer', () => {
  const { after, chain } = timed();
  after(600).utteranceEnded();
  after(0).heard({ text: 'hi', latencyMs: 500 }, true);
  chain.answerBegan();
  after(10).token();
  expect(chain.take(undefined)).toBeUndefined();
  chain.answerBegan();
  after(10).token();
  after(10).audio();
  expect(chain.take(630)).toBeUndefined();
});
