import { describe, expect, it } from 'vitest';
import { parseWav, wavSamples } from '../../../../media/wav.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import type {
  TranscriptionCall,
  TranscriptionRail,
} from '../../../../src/models/providers/transcription-rail.ts';
import { MAIN_HOLD } from '../../../../src/voice/billing/session-holds.ts';
import {
  createCatalogueTranscriber,
  createLocalTranscriber,
} from '../../../../src/voice/cascade/catalogue-transcriber.ts';
import { bindModel } from '../../../../src/voice/cascade/model-binding.ts';
import { StageFailed } from '../../../../src/voice/session/voice-pipeline.ts';
import { chargesOn } from '../../../support/charges-on.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { NO_OWN_KEYS } from '../../../support/own-keys.ts';
import { listening } from '../../../support/speech.ts';
import { createFakeEngines, tone } from '../../../support/voice-fakes.ts';

const source: Source = {
  rail: 'direct-account',
  provider: 'p',
  upstreamModel: 'm',
  marginBps: 0,
  rates: { audio_second: 1_000_000n },
};
const model: Model = {
  id: 'a/b',
  modality: 'stt',
  contextWindow: null,
  maxOutputTokens: null,
  sources: [source],
};
const RATE = 16_000;

/** Refuses what is beyond a balance. */
const spending = (balanceRaw: bigint) => async (totalRaw: bigint) => {
  if (totalRaw > balanceRaw) throw new StageFailed('budget_exhausted', 'no');
};

async function openTranscriber(
  balanceRaw = 1_000_000_000n,
  expected: { readonly language?: string; readonly prompt?: string } = {},
) {
  const sounds: Int16Array[] = [];
  const calls: TranscriptionCall[] = [];
  const rail: TranscriptionRail = {
    async transcribe(call) {
      const { file } = call;
      calls.push(call);
      const wav = parseWav(file.bytes);
      if (wav.kind === 'refused') throw new Error(wav.reason);
      sounds.push(wavSamples(wav));
      const body = Buffer.from(JSON.stringify({ text: ' hello ' }));
      const usage = { seconds: null, tokens: null };
      return { kind: 'completed', status: 200, body, contentType: 'application/json', usage };
    },
    stream: async () => ({ kind: 'aborted' }),
  };
  const clock = new ManualClock();
  const charges = chargesOn(spending(balanceRaw));
  const { tab } = charges;
  const heard = listening();
  const transcriber = createCatalogueTranscriber(
    {
      clock,
      log: silentLog,
      breaker: createSourceRests({ clock }),
      random: systemRandom,
      spender: { agentId: 7 },
      chargesOn: () => charges,
    },
    bindModel({
      model,
      rails: { railOf: () => rail },
      ownKeys: NO_OWN_KEYS,
      holdNameOf: () => MAIN_HOLD,
    }),
  );
  const stream = await transcriber.open({
    sampleRateHz: RATE,
    listener: heard.listener,
    ...expected,
  });
  const push = (pcm: Int16Array) => {
    for (let at = 0; at < pcm.length; at += 320) stream.push(pcm.subarray(at, at + 320));
  };
  return { stream, push, sounds, calls, heard, tab };
}

describe('a bought transcriber', () => {
  it('a catalogue transcriber sends each utterance whole, sample for sample, and charges its seconds', async () => {
    const { stream, push, sounds, heard, tab } = await openTranscriber();
    const [long, short] = [tone(5_000, RATE), tone(200, RATE)];
    for (const pcm of [long, short]) {
      push(pcm);
      await stream.endUtterance();
    }
    expect(sounds).toEqual([long, short]);
    expect(heard.finals()).toEqual(['hello', 'hello']);
    expect(tab.take().map(({ usage }) => usage.audio_second)).toEqual([5, 0.2]);
  });

  it('a catalogue transcriber sends the expected language and words in the same form fields as any other request', async () => {
    const expected = { language: 'de', prompt: 'Müller' };
    const { stream, push, calls } = await openTranscriber(undefined, expected);
    push(tone(200, RATE));
    await stream.endUtterance();
    expect(calls).toMatchObject([
      { ...expected, fields: [['response_format', 'json'], ...Object.entries(expected)] },
    ]);
  });

  it('a catalogue transcriber sends nothing of a dropped utterance, or of one without sound', async () => {
    const { stream, push, sounds, tab } = await openTranscriber();
    push(tone(500, RATE));
    await stream.dropUtterance?.();
    await stream.endUtterance();
    expect([sounds, tab.take()]).toEqual([[], []]);
  });

  it('a catalogue transcriber buys only what can be paid beside all unbilled charges, in whole seconds', async () => {
    const { stream, push, sounds, tab } = await openTranscriber(2n);
    for (const ms of [200, 1_000]) {
      push(tone(ms, RATE));
      await stream.endUtterance();
    }
    push(tone(100, RATE));
    await expect(stream.endUtterance()).rejects.toMatchObject({
      cause: { code: 'budget_exhausted' },
    });
    expect(sounds).toHaveLength(2);
    expect(tab.take().map(({ usage }) => usage.audio_second)).toEqual([0.2, 1]);
    push(tone(2_000, RATE));
    await stream.endUtterance();
    expect(sounds).toHaveLength(3);
  });
});

describe('a local transcriber', () => {
  it('a local transcriber is billed by the audio of finished utterances, and transcribes nothing that cannot be paid', async () => {
    const charges = chargesOn(spending(2n));
    const { tab } = charges;
    const { listener, finals } = listening();
    const recogniser = createFakeEngines().stt.pocketsphinx;
    const transcriber = createLocalTranscriber(recogniser, charges, source);
    const stream = await transcriber.open({ sampleRateHz: RATE, listener });
    stream.push(tone(1_000, RATE));
    await stream.dropUtterance?.();
    stream.push(tone(1_500, RATE));
    expect(tab.take()).toEqual([]);
    await stream.endUtterance();
    expect(tab.take()).toEqual([{ source, usage: { audio_second: 1.5 } }]);
    expect(finals().at(-1)).toBe('w1 w2 w3');
    stream.push(tone(2_500, RATE));
    await expect(stream.endUtterance()).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect(tab.take()).toEqual([]);
    stream.close();
  });
});
