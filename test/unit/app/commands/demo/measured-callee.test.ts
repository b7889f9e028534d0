import { expect, it } from 'vitest';
import { MeasuredCallee } from '../../../../../src/app/commands/demo/measured-callee.ts';
import type { Clock } from '../../../../../src/kernel/clock.ts';

const FRAME_MS = 20;
const LOUD = new Uint8Array(160).fill(0x10);
const QUIET = new Uint8Array(160).fill(0xfe);

/** Plays a line: at each frame what the callee hears and says, `#` is loud, `.` is quiet, and a space is no sound. */
function played(hears: string, says: string) {
  let nowMs = 1_000;
  let at = 0;
  const frameOf = (script: string) =>
    script[at] === '#' ? LOUD : script[at] === '.' ? QUIET : undefined;
  const clock = { monotonicMs: () => nowMs } as Clock;
  const callee = new MeasuredCallee(clock, {
    isGone: false,
    hear() {},
    say: () => frameOf(says),
  });
  for (; at < Math.max(hears.length, says.length); at++, nowMs += FRAME_MS) {
    callee.hear(frameOf(hears));
    callee.say();
  }
  return callee.lines;
}

it('the demo’s latency counts from the last loud frame of the caller to the first, and first loud, frame of the answer', () => {
  const [line] = played('         ..##', ' .###.. ');
  expect(line).toEqual({
    heardMs: 0,
    // The line ended at 5 frames, the answer came at 9.
    firstSoundMs: 4 * FRAME_MS,
    firstLoudMs: 6 * FRAME_MS,
    silentAfterMs: undefined,
  });
});

it('the demo measures an interruption from the callee’s first loud frame to the last loud frame of the answer that it cut', () => {
  const [line] = played('########.      ##', '    ########     ');
  expect(line).toMatchObject({
    heardMs: 5 * FRAME_MS,
    silentAfterMs: 4 * FRAME_MS,
    firstSoundMs: 3 * FRAME_MS,
  });
});

it('a spoken line of the demo that gets no answer has no latency', () => {
  expect(played('', '##')).toEqual([
    { heardMs: 0, firstSoundMs: undefined, firstLoudMs: undefined, silentAfterMs: undefined },
  ]);
});
