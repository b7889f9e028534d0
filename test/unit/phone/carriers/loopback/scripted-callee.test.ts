import { expect, it } from 'vitest';
import { ScriptedCallee } from '../../../../../src/phone/carriers/loopback/scripted-callee.ts';

const FRAME = new Uint8Array(160).fill(0x2a);
/** A line of so many frames of one byte. */
const line = (byte: number, frames = 2) => new Uint8Array(160 * frames).fill(byte);

/** What the callee says within so many frames, while it hears the other side or silence. */
function within(
  callee: ScriptedCallee,
  frames: number,
  isHearing: boolean,
): (number | undefined)[] {
  return Array.from({ length: frames }, () => {
    callee.hear(isHearing ? FRAME : undefined);
    return callee.say()?.[0];
  });
}

it('a scripted callee waits for the end of an answer, says its lines in turn, and hangs up after the last answer', () => {
  const callee = new ScriptedCallee([line(1), line(2)]);
  within(callee, 10, true);
  const first = within(callee, 60, false);
  expect(first.indexOf(1)).toBe(40);
  expect(first.filter((byte) => byte === 1)).toHaveLength(2);
  expect(first).not.toContain(2);
  expect(within(callee, 100, true).every((byte) => byte === undefined)).toBe(true);
  expect(within(callee, 60, false)).toContain(2);
  within(callee, 10, true);
  expect(callee.isGone).toBe(false);
  within(callee, 60, false);
  expect(callee.isGone).toBe(true);
});

it('a scripted callee interrupts once it has heard a set length of the answer, and not before the answer', () => {
  const callee = new ScriptedCallee([line(1), { sound: line(2), cutsInAfterMs: 500 }]);
  within(callee, 10, true);
  within(callee, 43, false);
  expect(within(callee, 200, false)).not.toContain(2);
  const answer = within(callee, 60, true);
  // 25 frames of 20 ms were heard.
  expect(answer.indexOf(2)).toBe(24);
});

it('a scripted callee says a line unprompted after a longer silence, padded with silence to whole frames', () => {
  const callee = new ScriptedCallee([new Uint8Array(200).fill(3)]);
  expect(within(callee, 250, false).every((byte) => byte === undefined)).toBe(true);
  callee.hear(undefined);
  expect(callee.say()).toEqual(new Uint8Array(160).fill(3));
  callee.hear(undefined);
  expect([...(callee.say() ?? [])]).toEqual([...Array(40).fill(3), ...Array(120).fill(0xff)]);
  callee.hear(undefined);
  expect(callee.say()).toBeUndefined();
});
