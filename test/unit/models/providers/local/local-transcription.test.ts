import { describe, expect, it } from 'vitest';
import { encodeWav } from '../../../../../media/wav.ts';
import { EngineInputRefused, EngineMissing } from '../../../../../src/engines/engine.ts';
import { createLocalTranscriptionRail } from '../../../../../src/models/providers/local/local-transcription.ts';
import { StreamBroken } from '../../../../../src/models/providers/openai/answer-reader.ts';
import type { TranscriptionCall } from '../../../../../src/models/providers/transcription-rail.ts';
import { adtsFile } from '../../../../support/sound-files.ts';
import { createFakeEngines, silence, tone } from '../../../../support/voice-fakes.ts';

const said = [silence(1_000, 16_000), tone(1_000, 16_000), silence(1_000, 16_000)];
const twice = Int16Array.from([...said, ...said].flatMap((part) => [...part]));

function world() {
  const engines = createFakeEngines();
  const rail = createLocalTranscriptionRail({ engines, gates: undefined });
  return { engines, rail, stt: engines.stt.pocketsphinx };
}

const call = (
  more: Partial<TranscriptionCall> = {},
  bytes: Uint8Array = encodeWav(twice, 16_000),
): TranscriptionCall => ({
  model: 'pocketsphinx',
  format: 'json',
  language: undefined,
  prompt: undefined,
  fields: [],
  file: { name: 'a', contentType: undefined, bytes: Buffer.from(bytes), durationMs: 6_000 },
  ...more,
});
const stays = () => new AbortController().signal;

describe('a file for the local recogniser', () => {
  it('the local transcription rail returns the words of a file and meters its duration', async () => {
    const { rail, stt } = world();
    stt.script.push('good', 'morning');
    const outcome = await rail.transcribe(call(), stays());
    expect(outcome).toMatchObject({ kind: 'completed', usage: { seconds: 6, tokens: null } });
    expect(outcome.kind === 'completed' && String(outcome.body)).toContain('"text":"good morning"');
    expect(stt.inUse).toBe(0);
  });

  it('the local transcription rail meters the decoded audio, whatever duration the file states', async () => {
    const { rail } = world();
    const file = { ...call().file, durationMs: 60_000 };
    const outcome = await rail.transcribe(call({ file }), stays());
    expect(outcome).toMatchObject({ usage: { seconds: 6 } });
    const more = { ...file, durationMs: 4_000 };
    expect(await rail.transcribe(call({ file: more }), stays())).toMatchObject({
      kind: 'unfit',
      param: 'file',
      detail: expect.stringContaining('more sound'),
    });
  });

  it('the local transcription rail streams one stretch at a time and meters the audio processed so far', async () => {
    const { rail, stt } = world();
    stt.script.push('good', 'morning');
    const outcome = await rail.stream(call(), stays());
    if (outcome.kind !== 'completed') throw new Error(outcome.kind);
    const { stream } = outcome;
    expect(String(await stream.next())).toContain('"delta":"good"');
    const { seconds } = stream.metered();
    expect(seconds).toBeGreaterThan(2);
    expect(seconds).toBeLessThan(4);
    expect(String(await stream.next())).toContain('"delta":" morning"');
    expect(String(await stream.next())).toContain('"text":"good morning"');
    expect(await stream.next()).toBeUndefined();
    expect(stream.metered()).toEqual({ seconds: 6, tokens: null });
    expect(stt.inUse).toBe(0);
  });

  it('the local transcription rail releases the recognizer when the stream stops or the client leaves', async () => {
    const { rail, stt } = world();
    const outcome = await rail.stream(call(), stays());
    if (outcome.kind === 'completed') outcome.stream.stop();
    expect(stt.inUse).toBe(0);
    const leaving = new AbortController();
    const left = rail.transcribe(call(), leaving.signal);
    leaving.abort();
    expect(await left).toEqual({ kind: 'aborted' });
    expect(await rail.stream(call(), leaving.signal)).toEqual({ kind: 'aborted' });
    expect(stt.inUse).toBe(0);
  });

  it('the local transcription rail leaves recognizers to other agents, and frees one when a file is done', async () => {
    const { rail, stt } = world();
    stt.script.push('good', 'morning');
    const begin = (agentId: number) => rail.stream(call({ agentId }), stays());
    const own = [await begin(1), await begin(1)];
    expect(await begin(1)).toMatchObject({ failure: 'busy' });
    expect(await begin(2)).toMatchObject({ kind: 'completed' });
    const [first] = own;
    if (first?.kind !== 'completed') throw new Error('the first was not begun');
    while ((await first.stream.next()) !== undefined);
    expect(await begin(1)).toMatchObject({ kind: 'completed' });
  });

  it('the local transcription rail passes the prompt to the grammar engine as its grammar', async () => {
    const { engines, rail } = world();
    await rail.transcribe(call({ model: 'grammar', prompt: '#JSGF V1.0;' }), stays());
    expect(engines.stt.grammar.grammar).toBe('#JSGF V1.0;');
    expect(engines.stt.pocketsphinx.opened).toBe(0);
  });

  it('the local transcription rail refuses undecodable or too long files, other languages and diarization', async () => {
    const { rail, stt } = world();
    const wishes = [
      call({}, adtsFile(3)),
      call({ file: { ...call().file, durationMs: 600_001 } }),
      call({ language: 'de' }),
      call({ format: 'diarized_json' }),
    ];
    const outcomes = await Promise.all(wishes.map((wanted) => rail.transcribe(wanted, stays())));
    expect(outcomes).toMatchObject([
      { kind: 'unfit', param: 'file', detail: 'The file holds no sound that can be decoded.' },
      { kind: 'unfit', param: 'file' },
      { kind: 'unfit', param: 'language' },
      { kind: 'unfit', param: 'response_format' },
    ]);
    expect(await rail.stream(call({ format: 'diarized_json' }), stays())).toEqual(outcomes[3]);
    expect(stt.opened).toBe(0);
    for (const language of ['en', 'en-GB', 'English']) {
      expect((await rail.transcribe(call({ language }), stays())).kind).toBe('completed');
    }
  });

  it('the local transcription rail fails when its engine is busy or breaks', async () => {
    const { rail, stt } = world();
    stt.streams = 0;
    expect(await rail.transcribe(call(), stays())).toMatchObject({
      failure: 'busy',
      retryAfterSeconds: 5,
    });
    stt.streams = 1;
    stt.breakAfterSamples = 0;
    expect(await rail.transcribe(call(), stays())).toMatchObject({ failure: 'broken' });
    const outcome = await rail.stream(call(), stays());
    if (outcome.kind !== 'completed') throw new Error(outcome.kind);
    await expect(outcome.stream.next()).rejects.toBeInstanceOf(StreamBroken);
    expect(stt.inUse).toBe(0);
    stt.open = () => Promise.reject(new EngineMissing('pruned'));
    expect(await rail.stream(call(), stays())).toMatchObject({ failure: 'missing' });
    stt.open = () => Promise.reject(new EngineInputRefused('no grammar'));
    expect(await rail.stream(call(), stays())).toMatchObject({ kind: 'unfit', param: 'prompt' });
  });
});
