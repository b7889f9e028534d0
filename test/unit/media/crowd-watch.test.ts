import { describe, expect, it } from 'vitest';
import { CrowdWatch } from '../../../media/crowd-watch.ts';
import { energy } from '../../../media/pcm.ts';
import { TurnDetector } from '../../../media/vad.ts';
import { loadNoiseSuppressors } from '../../../src/engines/noise-suppressor.ts';
import { crowdOf, framesOf } from '../../support/crowd.ts';
import { LIBRIVOX, loadRecording, overTelephone } from '../../support/speech.ts';

const HZ = 8_000;
/** Speech of one person, 1.6 s, with sound from its first to its last sample. */
const voice = overTelephone(loadRecording('librivox-0880.wav')).subarray(HZ, 2.6 * HZ);

/** A line with a crowd on it for `seconds`, and a caller who speaks from `fromSeconds` on, `gain` times as loud as recorded. */
function line(seconds: number, fromSeconds: number, gain: number): Int16Array {
  const crowd = crowdOf(seconds * HZ);
  return crowd.map((sample, at) => {
    const said = (voice[at - fromSeconds * HZ] ?? 0) * gain;
    return Math.max(-32_768, Math.min(32_767, sample + said));
  });
}

/** Plays a line to a model that takes all of it for speech, as it does with crowds. */
function turnsOf(sound: Int16Array, silenceDurationMs: number) {
  const detector = new TurnDetector({ silenceDurationMs });
  const stops: number[] = [];
  for (const frame of framesOf(sound)) {
    for (const event of [detector.frame(frame), detector.probability(0.95, detector.nowMs)]) {
      if (event?.kind === 'speech_stopped') stops.push(event.endMs);
    }
  }
  return stops;
}

describe('crowd watch', () => {
  it('CrowdWatch finds no crowd in the recordings of one reader', () => {
    for (const { file } of LIBRIVOX) {
      const watch = new CrowdWatch();
      for (const frame of framesOf(overTelephone(loadRecording(file)))) {
        watch.hear(energy(frame));
        expect(watch.isCrowded, file).toBe(false);
      }
    }
  });

  it('CrowdWatch finds a crowd in three readers at once, and none on a quiet line after them', () => {
    const watch = new CrowdWatch();
    for (const frame of framesOf(crowdOf(4 * HZ))) watch.hear(energy(frame));
    expect(watch.isCrowded).toBe(true);
    for (let i = 0; i < 200; i++) watch.hear(100);
    expect(watch.isCrowded).toBe(false);
  });

  it('CrowdWatch finds a crowd behind noise suppression within 6 seconds', async () => {
    const suppressor = (await loadNoiseSuppressors()).open(HZ);
    const watch = new CrowdWatch();
    const found = framesOf(crowdOf(6 * HZ)).some((frame) => {
      suppressor.suppress(frame);
      watch.hear(energy(frame));
      return watch.isCrowded;
    });
    suppressor.close();
    expect(found).toBe(true);
  });

  it('a turn on a crowded line ends when the caller no longer stands out, although the model hears speech', () => {
    const ends = turnsOf(line(9, 4, 3), 300);
    const [first] = ends.filter((endMs) => endMs > 5_600);
    expect(ends.filter((endMs) => endMs > 4_300 && endMs < 5_600)).toEqual([]);
    expect(first).toBeLessThan(5_600 + 1_500);
  });

  it('a silence of 3 s that was set to end a turn is cut to 700 ms on a crowded line', () => {
    const [first] = turnsOf(line(9, 4, 3), 3_000).filter((endMs) => endMs > 5_600);
    expect(first).toBeLessThan(5_600 + 2_000);
  });

  it('a turn on a crowded line ends after 3 seconds when no voice stands out', () => {
    const ends = turnsOf(crowdOf(10 * HZ), 300);
    expect(ends.length).toBeGreaterThanOrEqual(2);
    expect(ends[0]).toBeLessThan(4_500);
  });

  it('a turn of one voice that the model hears without a break goes on', () => {
    const sound = overTelephone(loadRecording('librivox-0870.wav'));
    const most = Math.floor(sound.length / HZ) * 1_000;
    expect(turnsOf(sound, 300).filter((endMs) => endMs < most)).toEqual([]);
  });
});
