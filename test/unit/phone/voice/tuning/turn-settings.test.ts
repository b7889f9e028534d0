import { expect, it } from 'vitest';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import {
  bargeInRules,
  turnDetectionOf,
} from '../../../../../src/phone/voice/tuning/turn-settings.ts';
import { waitsOf } from '../../../../../src/voice/session/turn-detection.ts';
import { TURN_MODES } from '../../../../../src/voice/session/turns/end-of-turn.ts';

it('a call uses the waits of the balanced mode and prompts a silent caller, unless set otherwise', () => {
  const usual = turnDetectionOf({});
  expect(waitsOf(usual)).toEqual(TURN_MODES.balanced);
  expect(usual).toMatchObject({
    createResponse: true,
    interruptResponse: false,
    idleTimeoutMs: PHONE_LIMITS.call.promptAfterMs,
  });
  expect(turnDetectionOf({ idleSeconds: 20 }).idleTimeoutMs).toBe(20_000);
  expect(turnDetectionOf({ idleSeconds: 0 }).idleTimeoutMs).toBeNull();
});

it('configured waits replace those of the mode, and a configured longest wait caps all of them', () => {
  const waits = (turnDetection: Parameters<typeof turnDetectionOf>[0]['turnDetection']) =>
    waitsOf(turnDetectionOf({ turnDetection }));
  expect(waits({ mode: 'patient', onNumberMs: 2_000 })).toEqual({
    ...TURN_MODES.patient,
    onNumberMs: 2_000,
  });
  expect(waits({ maxSilenceMs: 600 })).toEqual({
    minSilenceMs: 300,
    maxSilenceMs: 600,
    onNumberMs: 600,
    onNoPunctuationMs: 600,
  });
  expect(waits({ minSilenceMs: 2_500 })).toMatchObject({
    minSilenceMs: 2_500,
    maxSilenceMs: 2_500,
  });
  expect(waits({ maxSilenceMs: 200 })).toMatchObject({ minSilenceMs: 200, maxSilenceMs: 200 });
});

it('barge-in rules are those that are set, and two words of 250 ms by default', () => {
  expect(bargeInRules()).toMatchObject({ isOn: true, minMs: 250, minWords: 2 });
  const rules = bargeInRules({ enabled: false, minWords: 3, minMs: 0, ignoreWords: ['Righto'] });
  expect(rules).toMatchObject({ isOn: false, minMs: 0, minWords: 3 });
  expect(rules.ignoreWords.has('righto')).toBe(true);
});
