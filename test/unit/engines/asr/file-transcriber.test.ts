import { describe, expect, it } from 'vitest';
import {
  type FileTranscriber,
  type HeardSpeech,
  openFileTranscriber,
} from '../../../../src/engines/asr/file-transcriber.ts';
import { EngineBusy, type SttEngine } from '../../../../src/engines/engine.ts';
import { decodedFile } from '../../../support/decoding-here.ts';
import { createFakeEngines, silence, tone } from '../../../support/voice-fakes.ts';

const framesOf = (...parts: Int16Array[]) => decodedFile(parts);

const quiet = (ms: number) => silence(ms, 16_000);
const voice = (ms: number) => tone(ms, 16_000);

async function open(...parts: Int16Array[]) {
  const engines = createFakeEngines();
  const stt = engines.stt.pocketsphinx;
  const transcriber = await openFileTranscriber(
    { stt, vad: engines.vad, gates: undefined },
    framesOf(...parts),
  );
  return { transcriber, stt };
}

async function all(transcriber: FileTranscriber): Promise<HeardSpeech[]> {
  const heard: HeardSpeech[] = [];
  for (let next = await transcriber.next(); next !== undefined; next = await transcriber.next())
    heard.push(next);
  return heard;
}

describe('a file that is heard', () => {
  it('a file is transcribed one stretch of speech after another, each with its place in the file', async () => {
    const { transcriber, stt } = await open(
      quiet(1_000),
      voice(1_000),
      quiet(1_500),
      voice(2_000),
      quiet(1_000),
    );
    stt.script.push('first', 'second');
    const [first, second, ...more] = await all(transcriber);
    expect([first?.text, second?.text, more]).toEqual(['first', 'second', []]);
    expect(first?.startMs).toBeGreaterThanOrEqual(500);
    expect(first?.startMs).toBeLessThanOrEqual(1_000);
    expect(first?.endMs).toBeGreaterThanOrEqual(1_900);
    expect(first?.endMs).toBeLessThanOrEqual(2_200);
    expect(second?.startMs).toBeGreaterThan(first?.endMs ?? 0);
    expect(transcriber.heardMs).toBe(6_500);
  });

  it('the transcript of a file has each word’s place in the file, or no places where the recogniser gives none', async () => {
    const engines = createFakeEngines();
    const stt: SttEngine = {
      async open(options) {
        const stream = await engines.stt.pocketsphinx.open(options);
        const words = [{ word: 'yes', startMs: 350, endMs: 600 }];
        return {
          ...stream,
          push() {},
          endUtterance: async () =>
            options.listener.transcript({ text: 'yes', isFinal: true, words }),
        };
      },
    };
    const sound = framesOf(quiet(1_000), voice(900), quiet(1_500), voice(900), quiet(900));
    const timed = await all(
      await openFileTranscriber({ stt, vad: engines.vad, gates: undefined }, sound),
    );
    expect(timed.map(({ text }) => text)).toEqual(['yes', 'yes']);
    for (const { startMs, words } of timed) {
      expect(words).toEqual([{ word: 'yes', startMs: startMs + 350, endMs: startMs + 600 }]);
    }
    const untimed = await open(voice(1_000), quiet(1_000));
    expect((await all(untimed.transcriber))[0]?.words).toBeUndefined();
  });

  it('a file is transcribed to its very end, though it ends without silence', async () => {
    const { transcriber, stt } = await open(voice(3_000));
    const [only, ...more] = await all(transcriber);
    expect(only?.endMs).toBe(3_000);
    expect(more).toEqual([]);
    expect(stt.heardSamples).toBeGreaterThan(2_700 * 16);
  });

  it('the transcript of a file without recognised speech is empty, and its silence is not decoded', async () => {
    const { transcriber, stt } = await open(quiet(5_000));
    expect(await all(transcriber)).toEqual([]);
    expect(stt.heardSamples).toBe(0);
    const unclear = await open(quiet(1_000), voice(1_000), quiet(1_000));
    unclear.stt.script.push('');
    expect(await all(unclear.transcriber)).toEqual([]);
  });

  it('a stretch of speech in a file that lasts too long is cut', async () => {
    // Words, with pauses between them that are too short to be an end.
    const words = Array.from({ length: 325 }, () => [voice(300), quiet(100)]).flat();
    const { transcriber } = await open(...words);
    const lengths = (await all(transcriber)).map(({ startMs, endMs }) => endMs - startMs);
    expect(lengths).toHaveLength(3);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(60_000);
  });

  it('a file transcriber gives its recogniser back at its end, when closed and when decoding fails', async () => {
    const { transcriber, stt } = await open(voice(500));
    expect(stt.inUse).toBe(1);
    await all(transcriber);
    expect(stt.inUse).toBe(0);

    const closed = await open(voice(5_000));
    closed.transcriber.close();
    closed.transcriber.close();
    expect(await closed.transcriber.next()).toBeUndefined();
    expect(closed.stt.inUse).toBe(0);

    const broken = await open(voice(5_000));
    broken.stt.breakAfterSamples = 16_000;
    await expect(all(broken.transcriber)).rejects.toThrow('trapped');
  });

  it('a file transcriber fails at once when no recogniser is free', async () => {
    const engines = createFakeEngines();
    const stt = engines.stt.pocketsphinx;
    stt.streams = 0;
    const deps = { stt, vad: engines.vad, gates: undefined };
    await expect(openFileTranscriber(deps, framesOf())).rejects.toBeInstanceOf(EngineBusy);
  });
});
