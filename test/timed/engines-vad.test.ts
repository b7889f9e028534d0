import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { createLocalEngines } from '../../src/engines/local-engines.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { loadRecording } from '../support/speech.ts';

const engines = createLocalEngines({ clock: systemClock, random: systemRandom, log: silentLog });
afterAll(() => engines[Symbol.asyncDispose]());

/** Of 512 samples at 16 kHz. */
const WINDOW_MS = 32;

describe('vad', () => {
  it('the voice-activity model tells speech from silence for two listeners at once', async () => {
    const pcm = loadRecording('librivox-0880.wav');
    const [speaker, silent] = await Promise.all([engines.vad.open(), engines.vad.open()]);
    let spoken = 0;
    let heard = 0;
    for (let at = 0; at + 512 <= pcm.length; at += 512) {
      // At the pace of a line: who asks faster gets no answer between the late one and the next turn of the loop.
      const [speech, silence] = await Promise.all([
        speaker.probability(pcm.slice(at, at + 512)),
        silent.probability(new Int16Array(512)),
        sleep(WINDOW_MS),
      ]);
      if (speech > 0.5) spoken++;
      if (silence > 0.5) heard++;
    }
    speaker.close();
    silent.close();
    expect(spoken / (pcm.length / 512)).toBeGreaterThan(0.6);
    expect(heard).toBe(0);
  });
});
