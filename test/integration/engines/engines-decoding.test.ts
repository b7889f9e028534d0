import { afterAll, describe, expect, it } from 'vitest';
import { encodeWav } from '../../../media/wav.ts';
import { type DecodedFile, EngineBusy, EngineMissing } from '../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../src/engines/limits.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { createEngineFiles } from '../../../src/engines/threads/engine-files.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { soundVector } from '../../support/sound-vector.ts';

const deps = { clock: systemClock, random: systemRandom, log: silentLog };
const engines = createLocalEngines(deps);
afterAll(() => engines[Symbol.asyncDispose]());
const { decoding } = engines;

async function rest(file: DecodedFile): Promise<number> {
  let samples = 0;
  for (let pcm = await file.next(); pcm !== undefined; pcm = await file.next()) {
    samples += pcm.length;
  }
  file.close();
  return samples;
}

describe('the decoder of files', () => {
  it('the file decoder decodes several files in turns, each with its own sound', async () => {
    const names = ['speech.mp3', 'speech.ogg', 'speech.opus', 'fragmented.mp4', 'recorder.webm'];
    const open = await Promise.all(names.map((name) => decoding.open(soundVector(name), 3_000)));
    const samples = await Promise.all(open.map(rest));
    expect(samples).toEqual([44_800, 44_800, 44_800, 44_800, 44_800]);
    expect(open.map(({ soundMs }) => soundMs)).toEqual([2_787, 2_787, 2_787, 2_787, 2_794]);
  });

  it('the file decoder decodes a long file in pieces of a few seconds', async () => {
    const minute = encodeWav(new Int16Array(60 * 8_000), 8_000);
    const file = await decoding.open(Buffer.from(minute), 60_000);
    expect((await file.next())?.length).toBeLessThan(7 * 16_000);
    expect(await rest(file)).toBeGreaterThan(50 * 16_000);
    expect(file.soundMs).toBe(60_000);
  });

  it('the file decoder refuses a broken file with a sentence about it, and continues with the other files', async () => {
    const good = await decoding.open(soundVector('speech.mp3'), 3_000);
    const broken = soundVector('opus.mp4');
    broken.fill(0xff, broken.indexOf('dOps') + 4, broken.indexOf('dOps') + 6);
    for (const bytes of [broken, Buffer.from('text'), soundVector('gsm.wav')]) {
      await expect(decoding.open(bytes, 3_000)).rejects.toMatchObject({
        name: 'EngineInputRefused',
        param: 'file',
        message: expect.stringMatching(/\.$/),
      });
    }
    expect(await rest(good)).toBe(44_800);
  });

  it('the file decoder opens as many files as its limit, refuses one more, and opens it after a close', async () => {
    const files: DecodedFile[] = [];
    const open = () => decoding.open(soundVector('speech.mp3'), 3_000);
    const isOpened = () =>
      open().then(
        (file) => files.push(file) > 0,
        () => false,
      );
    // Files that were closed before this count until the worker has let go of them.
    while (files.length < ENGINE_LIMITS.decoding.files) await expect.poll(isOpened).toBe(true);
    await expect(open()).rejects.toBeInstanceOf(EngineBusy);
    for (const file of files) file.close();
    await expect.poll(isOpened).toBe(true);
    files.at(-1)?.close();
  });

  it('the file decoder names the package that is missing, and reads WAV without any package', async () => {
    const files = createEngineFiles((name) => {
      if (name === 'opus-decoder') throw new Error('pruned');
      return import.meta.resolve(name);
    });
    const slim = createLocalEngines({ ...deps, files });
    await expect(slim.decoding.open(soundVector('speech.mp3'), 3_000)).rejects.toThrow(
      new EngineMissing(
        'The decoding of compressed sound is not available: the package opus-decoder is not installed.',
      ),
    );
    const wav = Buffer.from(encodeWav(new Int16Array(8_000), 8_000));
    expect(await rest(await slim.decoding.open(wav, 1_000))).toBe(16_000);
    await slim[Symbol.asyncDispose]();
  });
});
