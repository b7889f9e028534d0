import { describe, expect, it } from 'vitest';
import { HEARING_FRAME, HEARING_HZ } from '../../../media/hearing.ts';
import { TurnDetector, type VadEvent } from '../../../media/vad.ts';
import { silence, tone } from '../../support/voice-fakes.ts';

function kindsOf(detector: TurnDetector, sounds: readonly Int16Array[]): VadEvent['kind'][] {
  const kinds: VadEvent['kind'][] = [];
  for (const sound of sounds) {
    for (let at = 0; at + HEARING_FRAME <= sound.length; at += HEARING_FRAME) {
      const event = detector.frame(sound.subarray(at, at + HEARING_FRAME));
      if (event !== undefined) kinds.push(event.kind);
    }
  }
  return kinds;
}

describe('a turn that has likely ended', () => {
  const loud = (ms: number) => tone(ms, HEARING_HZ);
  const quiet = (ms: number) => silence(ms, HEARING_HZ);
  const options = { answerWithinMs: 0, silenceDurationMs: 500 };

  it('a pause that likely ends a turn is reported once, and so is the turn that goes on', () => {
    const detector = new TurnDetector({ ...options, pauseMs: 200 });
    const sounds = [
      quiet(400),
      loud(600),
      quiet(300),
      loud(400),
      quiet(100),
      loud(200),
      quiet(700),
    ];
    expect(kindsOf(detector, sounds)).toEqual([
      'speech_started',
      'speech_paused',
      'speech_resumed',
      'speech_paused',
      'speech_stopped',
    ]);
  });

  it('a pause within a turn is not reported without the option, or where it would come after the turn’s end', () => {
    for (const pauses of [{}, { pauseMs: 900 }]) {
      const detector = new TurnDetector({ ...options, ...pauses });
      const kinds = kindsOf(detector, [quiet(400), loud(600), quiet(700)]);
      expect(kinds).toEqual(['speech_started', 'speech_stopped']);
    }
  });
});
