import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { EngineBusy, type EnginePlace, type SttStream } from '../../src/engines/engine.ts';
import { createLocalEngines } from '../../src/engines/local-engines.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { LIBRIVOX, listening, loadRecording } from '../support/speech.ts';

const engines = createLocalEngines({ clock: systemClock, random: systemRandom, log: silentLog });
afterAll(() => engines[Symbol.asyncDispose]());

const CALLERS = 20;
const TURNS = 2;
const FRAME = 320;
const FRAME_MS = 20;

/** Says a recording at the pace of a line, and waits for its words. */
async function say(stream: SttStream, pcm: Int16Array): Promise<void> {
  const beganMs = performance.now();
  for (let at = 0; at < pcm.length; at += FRAME) {
    stream.push(pcm.subarray(at, at + FRAME));
    const dueMs = beganMs + (at / FRAME + 1) * FRAME_MS;
    await sleep(Math.max(0, dueMs - performance.now()));
  }
  await stream.endUtterance();
}

it('each of twenty callers with a place gets a transcript in both turns though all speak at once, the rest are refused', async () => {
  const { pocketsphinx } = engines.stt;
  const places: EnginePlace[] = [];
  let refused = 0;
  for (let caller = 0; caller < CALLERS; caller++) {
    try {
      places.push(pocketsphinx.takePlace());
    } catch (error) {
      expect(error).toBeInstanceOf(EngineBusy);
      refused += 1;
    }
  }
  expect(places.length).toBe(Math.min(CALLERS, pocketsphinx.places.most));
  expect(refused).toBe(CALLERS - places.length);

  const ears = places.map(() => listening());
  await Promise.all(
    places.map(async (place, nth) => {
      const listener = ears[nth]?.listener as ReturnType<typeof listening>['listener'];
      const stream = await pocketsphinx.open({ sampleRateHz: 16_000, listener, place });
      const { file } = LIBRIVOX[nth % LIBRIVOX.length] as (typeof LIBRIVOX)[number];
      for (let turn = 0; turn < TURNS; turn++) await say(stream, loadRecording(file));
      stream.close();
      place.release();
    }),
  );
  expect(ears.flatMap(({ failures }) => failures)).toEqual([]);
  for (const ear of ears) {
    const turns = ear.finals().filter((text) => text !== '');
    expect(turns.length).toBeGreaterThanOrEqual(TURNS);
  }
  expect(pocketsphinx.places.taken).toBe(0);
}, 120_000);
