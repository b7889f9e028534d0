import { expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import type { Modality, Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { StreamBroken } from '../../../../src/models/providers/openai/answer-reader.ts';
import type { SpeechRail } from '../../../../src/models/providers/speech-rail.ts';
import type { TranscriptionRail } from '../../../../src/models/providers/transcription-rail.ts';
import { MAIN_HOLD } from '../../../../src/voice/billing/session-holds.ts';
import { takeBillFrom } from '../../../../src/voice/cascade/cascade-pipeline.ts';
import { CatalogueReply } from '../../../../src/voice/cascade/catalogue-reply.ts';
import { createCatalogueTranscriber } from '../../../../src/voice/cascade/catalogue-transcriber.ts';
import { CatalogueTts } from '../../../../src/voice/cascade/catalogue-tts.ts';
import { bindModel } from '../../../../src/voice/cascade/model-binding.ts';
import type { SessionTrace } from '../../../../src/voice/live/session-trace.ts';
import { chargesOn } from '../../../support/charges-on.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { NO_OWN_KEYS } from '../../../support/own-keys.ts';
import { RecordedSpan } from '../../../support/recorded-span.ts';
import { listening } from '../../../support/speech.ts';
import { textEvent } from '../../../support/stream-upstream.ts';
import { tone } from '../../../support/voice-fakes.ts';

const source: Source = {
  rail: 'direct-account',
  provider: 'p',
  upstreamModel: 'm',
  marginBps: 0,
  rates: { text_output_token: 1_000_000n, character: 1_000_000n, audio_second: 1_000_000n },
};

/** What a session buys of one rail, with its trace. */
function session() {
  const clock = new ManualClock();
  const charges = chargesOn();
  const { tab } = charges;
  const root = new RecordedSpan('voice turn');
  const breaker = createSourceRests({ clock });
  const deps = {
    breaker,
    clock,
    log: silentLog,
    random: systemRandom,
    spender: { agentId: 7 },
    chargesOn: () => charges,
    trace: { span: root } as unknown as SessionTrace,
  };
  const bind = <R>(modality: Modality, rail: R) => {
    const model: Model = {
      id: 'a/b',
      modality,
      contextWindow: null,
      maxOutputTokens: null,
      sources: [source],
    };
    return bindModel({
      model,
      rails: { railOf: () => rail },
      ownKeys: NO_OWN_KEYS,
      holdNameOf: () => MAIN_HOLD,
    });
  };
  const bill = () => {
    const chargesByHold = {
      take: () => tab.take().map((bought) => ({ bought, sessionHold: 'main' })),
    };
    const takeBill = takeBillFrom({ breaker, log: silentLog }, chargesByHold as never);
    return takeBill({} as never, 1);
  };
  return { bill, bind, deps, root, tab };
}

const signal = new AbortController().signal;

/** Delivers these, then does as told. */
function chunksOf(first: readonly Uint8Array[], then: () => undefined) {
  const chunks = [...first];
  return async () => chunks.shift() ?? then();
}

const fail = (error: Error) => () => {
  throw error;
};
const nothing = () => undefined;
const REPORT = 'data: {"error":{"type":"overloaded_error","message":"no"}}\n\n';

it.each<[string, readonly string[], () => undefined, string | undefined]>([
  ['a model whose connection breaks', ['a'], fail(new StreamBroken('gone')), 'broken'],
  ['a model that reports an error', ['a', REPORT], nothing, 'overloaded_error'],
  ['a model that is heard to its end', ['a', 'b'], nothing, undefined],
])('the span of %s records the error of its answer, if any', async (_, said, then, error) => {
  const { bill, root, tab } = session();
  const span = root.child('chat m');
  const events = said.map((text) => Buffer.from(text.startsWith('data') ? text : textEvent(text)));
  const reply = new CatalogueReply({
    body: { model: 'm', messages: [{ role: 'user', content: 'four' }] },
    most: { inputTokens: 12, cachedTokens: 0, outputTokens: 10 },
    open: async () => ({
      source,
      span,
      share: tab.expect(0n),
      stream: {
        next: chunksOf(events, then),
        metered: () => ({ usage: null, answerChars: 4 }),
        stop() {},
      },
    }),
    signal,
  });
  const heard = (async () => {
    while ((await reply.next()) !== undefined);
  })();
  if (error === undefined) await heard;
  else await expect(heard).rejects.toMatchObject({ code: 'upstream_broke_off' });
  expect(bill()).toMatchObject([{ usage: { text_output_token: expect.any(Number) } }]);
  expect(span.ended?.error).toBe(error);
});

it('the span of an answer that its caller interrupted is no failure, whatever the stream does afterwards', async () => {
  const { bill, root, tab } = session();
  const span = root.child('chat m');
  const stopping = new AbortController();
  const reply = new CatalogueReply({
    body: { model: 'm', messages: [{ role: 'user', content: 'four' }] },
    most: { inputTokens: 12, cachedTokens: 0, outputTokens: 10 },
    open: async () => ({
      source,
      span,
      share: tab.expect(0n),
      stream: {
        next: chunksOf([Buffer.from(textEvent('a'))], () => {
          stopping.abort();
          throw new StreamBroken('gone');
        }),
        metered: () => ({ usage: null, answerChars: 4 }),
        stop() {},
      },
    }),
    signal: stopping.signal,
  });
  while ((await reply.next()) !== undefined);
  expect(bill()).toHaveLength(1);
  expect(span.ended).toBeDefined();
  expect(span.ended?.error).toBeUndefined();
});

it.each<[string, () => undefined, string | undefined]>([
  ['broke off', fail(new StreamBroken('gone')), 'broken'],
  ['is whole', nothing, undefined],
])(
  'the span of a synthesized sentence that %s records the error, if any',
  async (_, then, error) => {
    const { bill, bind, deps, root } = session();
    const rail = {
      makes: () => true,
      speak: async () => ({
        kind: 'completed',
        status: 200,
        contentType: 'audio/pcm',
        isWhole: false,
        sound: {
          next: chunksOf([new Uint8Array(480)], then),
          usage: () => null,
          stop() {},
        },
      }),
    } as unknown as SpeechRail;
    const tts = new CatalogueTts(deps, bind('tts', rail));
    const spoken = (async () => {
      for await (const { pcm } of tts.speak({ text: 'Hello.', voice: 'v', speed: 1, signal })) {
        expect(pcm).toHaveLength(240);
      }
    })();
    if (error === undefined) await spoken;
    else await expect(spoken).rejects.toMatchObject({ code: 'upstream_broke_off' });
    expect(bill()).toHaveLength(1);
    const [span] = root.children;
    expect([span?.name, span?.ended?.error]).toEqual(['text_to_speech m', error]);
  },
);

it.each([
  ['no transcript', '{"words":[]}', 'broken'],
  ['a transcript', '{"text":"hello"}', undefined],
])(
  'the span of a transcription whose provider returned %s records the error, if any',
  async (_, body, error) => {
    const { bill, bind, deps, root } = session();
    const rail: TranscriptionRail = {
      transcribe: async () => ({
        kind: 'completed',
        status: 200,
        contentType: 'application/json',
        body: Buffer.from(body),
        usage: { seconds: null, tokens: null },
      }),
      stream: async () => ({ kind: 'aborted' }),
    };
    const { listener } = listening();
    const stream = await createCatalogueTranscriber(deps, bind('stt', rail)).open({
      sampleRateHz: 16_000,
      listener,
    });
    stream.push(tone(200, 16_000));
    await stream.endUtterance().catch(() => {});
    expect(bill()).toHaveLength(1);
    const [span] = root.children;
    expect([span?.name, span?.ended?.error]).toEqual(['transcription m', error]);
  },
);
