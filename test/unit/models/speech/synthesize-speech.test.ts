import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { failed, type Outcome } from '../../../../src/models/providers/outcome.ts';
import type { Speech, SpeechCall } from '../../../../src/models/providers/speech-rail.ts';
import { createSpeechSynthesis } from '../../../../src/models/speech/synthesize-speech.ts';
import { aBuyer, noStoredKeys } from '../../../support/a-buyer.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { plainBudgets } from '../../../support/plain-budgets.ts';

const AGENT = 7;

const speechOf = (): Outcome<Speech> => ({
  kind: 'completed',
  status: 200,
  contentType: 'audio/mpeg',
  sound: { next: async () => undefined, usage: () => null, stop() {} },
});

/** A model billed by characters, whose second source is dearer, and one billed by tokens. */
async function world(play: (provider: string) => Outcome<Speech>) {
  const clock = new ManualClock();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_000_000n, reference: 'start' });
  const provider = { baseUrl: 'https://x.example', dialect: 'openai' } as const;
  const source = (id: string, rates: object) =>
    ({ rail: 'direct-account', provider: id, upstreamModel: `${id}-m`, rates }) as const;
  const catalogue = buildCatalogue({
    providers: new Map([
      ['cheap', provider],
      ['dear', provider],
    ]),
    models: [
      {
        id: 'acme/voice',
        modality: 'tts',
        sources: [source('dear', { character: '30' }), source('cheap', { character: '15' })],
      },
      {
        id: 'acme/tokens',
        modality: 'tts',
        sources: [source('cheap', { text_input_token: '0', audio_output_token: '12' })],
      },
    ],
    secret: () => undefined,
  });
  const calls: SpeechCall[] = [];
  const rails = {
    railOf: ({ provider: id }: { provider: string }) => ({
      makes: () => true,
      async speak(call: SpeechCall) {
        calls.push(call);
        return play(id);
      },
    }),
    async [Symbol.asyncDispose]() {},
  };
  const synthesis = createSpeechSynthesis({
    catalogue,
    rails,
    ledger,
    clock,
    random: systemRandom,
    log: silentLog,
    breaker: createSourceRests({ clock }),
    budgets: plainBudgets(),
    providerKeys: noStoredKeys,
  });
  let works = 0;
  const speak = (more: object = {}) =>
    synthesis.speak({
      body: { model: 'acme/voice', input: 'x'.repeat(1_000), ...more },
      buyer: aBuyer({ agentId: AGENT, keyId: 3, taskId: 'errand' }, { workId: `work_${++works}` }),
    });
  return { calls, ledger, speak };
}

describe('speech', () => {
  it('speech is charged at the cheapest source, under the upstream’s model name, and leaves no open hold', async () => {
    const { calls, ledger, speak } = await world(speechOf);
    const { headers } = await speak();
    expect(headers['x-svc-cost-usdc']).toBe('15750');
    expect(calls).toEqual([
      expect.objectContaining({ model: 'cheap-m', format: 'mp3', wantsUsage: false }),
    ]);
    expect(ledger.openHolds()).toBe(0);
    expect(ledger.charges).toEqual([
      expect.objectContaining({ taskId: 'errand', costRaw: 15_750n, targetHost: 'acme' }),
    ]);
  });

  it('speech that falls back is charged at the source that delivered', async () => {
    const { ledger, speak } = await world((id) =>
      id === 'cheap' ? failed('broken', 'status 500', 500) : speechOf(),
    );
    expect((await speak()).headers).toMatchObject({
      'x-svc-attempts': '2',
      'x-svc-cost-usdc': '31500',
    });
    expect(ledger.openHolds()).toBe(0);
  });

  it.each([
    ['the cheapest source', 15_749n, 402, 0],
    ['the dearer source', 31_499n, 502, 1],
  ])(
    'speech is refused or not retried when the balance does not cover %s',
    async (_, leftRaw, status, asked) => {
      const { calls, ledger, speak } = await world(() => failed('broken', 'status 500', 500));
      await ledger.hold({
        spender: { agentId: AGENT },
        holdId: 'other',
        amountRaw: 1_000_000n - leftRaw,
        destination: { host: 'acme', payee: null },
      });
      await expect(speak()).rejects.toMatchObject({ status });
      expect(calls).toHaveLength(asked);
    },
  );

  it('speech requests usage from the upstream only for event streams billed in tokens', async () => {
    const { calls, speak } = await world(speechOf);
    await speak({ model: 'acme/tokens' });
    await speak({ stream_format: 'sse' });
    await speak({ model: 'acme/tokens', stream_format: 'sse' });
    expect(calls.map(({ wantsUsage }) => wantsUsage)).toEqual([false, false, true]);
  });

  it('speech that a source cannot serve is refused with the member at fault, at no charge', async () => {
    const { ledger, speak } = await world(() => ({
      kind: 'unfit',
      detail: 'nothing in it',
      param: 'input',
    }));
    await expect(speak()).rejects.toMatchObject({ status: 400, fields: { param: 'input' } });
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([0, 0n]);
  });
});
