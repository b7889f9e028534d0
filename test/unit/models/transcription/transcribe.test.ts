import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type { SourceEntry } from '../../../../src/models/catalogue/builtin/builtin-model.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { streamOfTranscript } from '../../../../src/models/providers/openai/transcript-stream.ts';
import { failed, type Outcome } from '../../../../src/models/providers/outcome.ts';
import type {
  TranscriptionAnswer,
  TranscriptionCall,
  TranscriptionRail,
} from '../../../../src/models/providers/transcription-rail.ts';
import type { Rails } from '../../../../src/models/routing/open-rails.ts';
import { createTranscriptions } from '../../../../src/models/transcription/transcribe.ts';
import { aBuyer, noStoredKeys } from '../../../support/a-buyer.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { plainBudgets } from '../../../support/plain-budgets.ts';
import { adtsFile } from '../../../support/sound-files.ts';

const AGENT = 7;
const FUNDS = 1_000_000n;
/** 25 frames of 64 ms. */
const SOUND = adtsFile(25);
const REQUEST = {
  format: 'json',
  language: undefined,
  prompt: undefined,
  fields: [],
  stream: false,
} as const;

const answered = (seconds: number | null = null): Outcome<TranscriptionAnswer> => ({
  kind: 'completed',
  status: 200,
  body: Buffer.from('{}'),
  contentType: 'application/json',
  usage: { seconds, tokens: null },
});

/** Two sources, `cheap` and `dear`, that do as told; an agent with one dollar. */
async function world(play: (provider: string) => Outcome<TranscriptionAnswer>) {
  const clock = new ManualClock();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const asked: TranscriptionCall[] = [];
  const provider = { baseUrl: 'https://x.example', dialect: 'openai' } as const;
  const source = (id: string, audio_second: string): SourceEntry => ({
    provider: id,
    upstreamModel: `${id}-ears`,
    rates: { audio_second },
    marginBps: 0,
    rail: 'direct-account',
  });
  const catalogue = buildCatalogue({
    providers: new Map([
      ['cheap', provider],
      ['dear', provider],
    ]),
    models: [
      {
        id: 'acme/ears',
        modality: 'stt',
        sources: [source('dear', '200'), source('cheap', '100')],
      },
      { id: 'acme/ears-multilingual', modality: 'stt', sources: [source('cheap', '150')] },
    ],
    secret: () => undefined,
  });
  const rails: Rails<TranscriptionRail> = {
    railOf: ({ provider: id }) => ({
      async transcribe(call) {
        asked.push(call);
        return play(id);
      },
      async stream(call) {
        asked.push(call);
        const stream = streamOfTranscript({ text: 'a' }, { seconds: 3, tokens: null });
        return { kind: 'completed', status: 200, stream };
      },
    }),
    async [Symbol.asyncDispose]() {},
  };
  const breaker = createSourceRests({ clock });
  const deps = {
    catalogue,
    rails,
    breaker,
    ledger,
    budgets: plainBudgets(),
    providerKeys: noStoredKeys,
    clock,
    random: systemRandom,
    log: silentLog,
  };
  const transcriptions = createTranscriptions(deps);
  const wanted = (bytes: Buffer = SOUND, model = 'acme/ears') => ({
    buyer: aBuyer({ agentId: AGENT, keyId: 3, taskId: 'errand' }),
    request: { ...REQUEST, model, file: { name: 'a', contentType: undefined, bytes } },
  });
  const balanced = async () => {
    const funds = await ledger.funds(AGENT);
    expect(ledger.openHolds()).toBe(0);
    expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
    return ledger.consumedRaw(AGENT);
  };
  return { asked, balanced, ledger, transcriptions, wanted };
}

describe('a transcript that is bought', () => {
  it('a transcription is charged for the file’s duration at the cheapest source', async () => {
    const { asked, balanced, ledger, transcriptions, wanted } = await world(() => answered());
    const { headers } = await transcriptions.transcribe(wanted());
    expect(asked).toMatchObject([
      { model: 'cheap-ears', file: { durationMs: 1_600, bytes: SOUND } },
    ]);
    expect(await balanced()).toBe(160n);
    expect(headers['x-svc-cost-usdc']).toBe('160');
    expect(ledger.charges).toMatchObject([
      { status: 'success', costRaw: 160n, usage: { audio_second: 1.6 }, taskId: 'errand' },
    ]);
  });

  it.each([
    ['acme/ears', 'multi'],
    ['acme/ears-multilingual', undefined],
  ])(
    'a transcription in several languages has the multilingual price (%s, %s)',
    async (model, language) => {
      const { asked, balanced, transcriptions, wanted } = await world(() => answered());
      const order = wanted(SOUND, model);
      const { headers } = await transcriptions.transcribe({
        ...order,
        request: { ...order.request, language },
      });
      expect(await balanced()).toBe(240n);
      expect(headers['x-svc-model']).toBe('acme/ears-multilingual');
      expect(asked).toMatchObject([{ language: 'multi' }]);
    },
  );

  it('a transcription is charged for the duration that its upstream reports', async () => {
    const { balanced, transcriptions, wanted } = await world(() => answered(2));
    await transcriptions.transcribe(wanted());
    expect(await balanced()).toBe(200n);
  });

  it('a transcription falls back to the next source, at its price', async () => {
    const { balanced, transcriptions, wanted } = await world((id) =>
      id === 'cheap' ? failed('broken', 'x', 500) : answered(),
    );
    await transcriptions.transcribe(wanted());
    expect(await balanced()).toBe(320n);
  });

  it('a transcription that the source cannot serve is refused with the member at fault, at no charge', async () => {
    const unfit = { kind: 'unfit', detail: 'send wav', param: 'file' } as const;
    const { balanced, transcriptions, wanted } = await world(() => unfit);
    const thrown = await transcriptions.transcribe(wanted()).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ status: 400, fields: { param: 'file', message: 'send wav' } });
    expect(await balanced()).toBe(0n);
  });

  it('a transcription is refused for a file without audio and for an unknown model', async () => {
    const { asked, balanced, transcriptions, wanted } = await world(() => answered());
    await expect(transcriptions.transcribe(wanted(Buffer.from('text')))).rejects.toBeInstanceOf(
      ApiError,
    );
    await expect(transcriptions.transcribe(wanted(SOUND, 'acme/none'))).rejects.toMatchObject({
      status: 404,
    });
    expect(asked).toEqual([]);
    expect(await balanced()).toBe(0n);
  });

  it('a transcription is not requested when its client has left beforehand', async () => {
    const { asked, balanced, transcriptions, wanted } = await world(() => answered());
    const { buyer, request } = wanted();
    const left = { ...buyer, signal: AbortSignal.abort() };
    await expect(transcriptions.transcribe({ buyer: left, request })).rejects.toMatchObject({
      status: 499,
    });
    expect(asked).toEqual([]);
    expect(await balanced()).toBe(0n);
  });

  it('a streamed transcription is settled at its end and when its client leaves', async () => {
    for (const leaves of [false, true]) {
      const { balanced, transcriptions, wanted } = await world(() => answered());
      const { buyer, request } = wanted();
      const streamed = { buyer, request: { ...request, stream: true } };
      const answer = await transcriptions.transcribe(streamed);
      const { body } = answer as { body: AsyncIterable<Uint8Array> };
      for await (const _ of body) if (leaves) break;
      expect(await balanced()).toBe(200n);
    }
  });
});
