import { describe, expect, it } from 'vitest';
import { loadNoiseSuppressors, type RnnoiseModule } from '../../../src/engines/noise-suppressor.ts';
import { rms } from '../../support/rms.ts';
import { loadRecording, overTelephone } from '../../support/speech.ts';

const FRAME = 160;

/** The sound of a line at 8 kHz after its noise was suppressed, cut as the line was. */
async function suppressed(pcm: Int16Array, frame = FRAME): Promise<Int16Array> {
  const one = (await loadNoiseSuppressors()).open(8_000);
  const heard = pcm.slice();
  for (let at = 0; at < heard.length; at += frame) one.suppress(heard.subarray(at, at + frame));
  one.close();
  return heard;
}

function noise(samples: number, level: number): Int16Array {
  let state = 1;
  return Int16Array.from({ length: samples }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.round((state / 0x7fffffff - 0.5) * 2 * level);
  });
}

describe('noise suppressor', () => {
  it('the noise suppressor removes nine tenths of a line’s noise after four seconds, and keeps a clean voice’s loudness', async () => {
    const hiss = noise(48_000, 5_600);
    expect(rms((await suppressed(hiss)).subarray(32_000))).toBeLessThan(rms(hiss) / 10);
    const voice = overTelephone(loadRecording('librivox-0930.wav'));
    expect(rms(await suppressed(voice)) / rms(voice)).toBeGreaterThan(0.85);
  });

  it('the noise suppressor gives the same sound 20 ms later, however the sound was cut', async () => {
    const voice = overTelephone(loadRecording('librivox-0930.wav')).slice(0, 16_000);
    const [whole, halves] = [await suppressed(voice), await suppressed(voice, FRAME / 2)];
    expect(halves).toEqual(whole);
    expect(whole.subarray(0, FRAME).every((sample) => sample === 0)).toBe(true);
  });

  it('the noise suppressor passes a line’s sound unchanged when its module traps, and restarts the module for the next line', async () => {
    let started = 0;
    const suppressors = await loadNoiseSuppressors(async () => {
      started += 1;
      return {
        HEAPF32: new Float32Array(1_024),
        _malloc: () => 64,
        _rnnoise_create: () => 1,
        _rnnoise_destroy() {},
        _rnnoise_process_frame() {
          throw Object.assign(new Error('unreachable'), { name: 'RuntimeError' });
        },
      } satisfies RnnoiseModule;
    });
    const line = suppressors.open(8_000);
    const frame = new Int16Array(FRAME).fill(7);
    line.suppress(frame);
    line.suppress(frame.fill(7));
    expect(frame[0]).toBe(7);
    line.close();
    suppressors.open(8_000).close();
    await new Promise(setImmediate);
    expect(started).toBe(2);
  });
});
