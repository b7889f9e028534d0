import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type { SourceEntry } from '../../../../src/models/catalogue/builtin/builtin-model.ts';
import { createEmbeddings } from '../../../../src/models/embeddings/buy-embeddings.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import type { EmbeddingList, Misfit } from '../../../../src/models/providers/embedding-rail.ts';
import { failed, type Outcome } from '../../../../src/models/providers/outcome.ts';
import { aBuyer, noStoredKeys } from '../../../support/a-buyer.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { plainBudgets } from '../../../support/plain-budgets.ts';

const AGENT = 7;
const FUNDS = 1_000_000n;

const listed = (promptTokens: number | null = 10): Outcome<EmbeddingList> => ({
  kind: 'completed',
  status: 200,
  body: Buffer.from('{}'),
  promptTokens,
  contentType: 'application/json',
});

/** Two sources, `cheap` and `dear`, that do as told; an agent with one dollar. */
async function world(
  play: (provider: string) => Outcome<EmbeddingList>,
  misfit: (provider: string) => Misfit | undefined = () => undefined,
) {
  const clock = new ManualClock();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const asked: { provider: string; model: string; openHolds: number }[] = [];
  const provider = { baseUrl: 'https://x.example', dialect: 'openai' } as const;
  const source = (id: string, rate: string): SourceEntry => ({
    rail: 'direct-account',
    provider: id,
    upstreamModel: `${id}-v`,
    rates: { text_input_token: rate },
  });
  const sources = [source('dear', '2000'), source('cheap', '1000')];
  const catalogue = buildCatalogue({
    providers: new Map([
      ['cheap', provider],
      ['dear', provider],
    ]),
    models: [
      { id: 'acme/v', modality: 'embedding', sources },
      { id: 'acme/words', modality: 'text', sources },
    ],
    secret: () => undefined,
  });
  const embeddings = createEmbeddings({
    catalogue,
    ledger,
    clock,
    random: systemRandom,
    log: silentLog,
    breaker: createSourceRests({ clock }),
    budgets: plainBudgets(),
    providerKeys: noStoredKeys,
    rails: {
      railOf: ({ provider: id }) => ({
        misfit: () => misfit(id),
        async embed({ model }) {
          asked.push({ provider: id, model, openHolds: ledger.openHolds() });
          return play(id);
        },
      }),
    },
  });
  const embed = (more: object = {}) =>
    embeddings.embed({
      buyer: aBuyer({ agentId: AGENT, keyId: 3 }),
      body: { model: 'acme/v', input: 'x'.repeat(40), ...more },
    });
  const refusal = async (more: object = {}) => {
    const thrown = await embed(more).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ApiError);
    return thrown as ApiError;
  };
  /** What must hold after any request. */
  const balanced = async () => {
    const funds = await ledger.funds(AGENT);
    expect([ledger.openHolds(), funds?.heldRaw]).toEqual([0, 0n]);
    expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
  };
  return { embed, refusal, balanced, asked, ledger, providers: () => asked.map((a) => a.provider) };
}

describe('embeddings', () => {
  it('embeddings are charged what the cheapest source metered, under a hold, and leave no open hold', async () => {
    const w = await world(() => listed(10));
    const { headers, body } = await w.embed();
    expect(w.asked).toEqual([{ provider: 'cheap', model: 'cheap-v', openHolds: 1 }]);
    expect(String(body)).toBe('{}');
    expect(headers).toMatchObject({ 'x-svc-cost-usdc': '10500', 'x-svc-model': 'acme/v' });
    expect(w.ledger.charges).toMatchObject([
      { status: 'success', costRaw: 10_500n, usage: { text_input_token: 10 } },
    ]);
    await w.balanced();
  });

  it('embeddings fall back to the next source after a failure, at that source’s price', async () => {
    const w = await world((id) => (id === 'cheap' ? failed('broken', 'no list') : listed(10)));
    const { headers } = await w.embed();
    expect(headers).toMatchObject({ 'x-svc-attempts': '2', 'x-svc-cost-usdc': '21000' });
    await w.balanced();
  });

  it('the usage of embeddings is estimated from the input when the upstream reports none', async () => {
    const w = await world(() => listed(null));
    await w.embed();
    expect(w.ledger.charges[0]?.usage).toEqual({ text_input_token: 10, estimated: 1 });
    await w.balanced();
  });

  it('embeddings are refused when the balance does not cover one token per byte at the cheapest source', async () => {
    const w = await world(() => listed());
    const { error, fields } = await w.refusal({ input: 'é'.repeat(500) });
    expect([error, fields.required]).toEqual(['budget_exhausted', '2100000']);
    expect(w.asked).toEqual([]);
    await w.balanced();
  });

  it('embeddings call only the sources that the balance covers', async () => {
    const w = await world((id) => (id === 'cheap' ? failed('broken', 'no list') : listed()));
    await w.refusal({ input: 'é'.repeat(300) });
    expect(w.asked).toHaveLength(1);
    await w.balanced();
  });

  it('embeddings skip a source that cannot serve the request, however cheap it is', async () => {
    const misfit = { detail: 'no tokens', param: 'input' };
    const w = await world(
      () => listed(),
      (id) => (id === 'cheap' ? misfit : undefined),
    );
    expect((await w.embed()).headers['x-svc-attempts']).toBeUndefined();
    expect(w.providers()).toEqual(['dear']);
    const none = await world(
      () => listed(),
      () => misfit,
    );
    const refused = await none.refusal();
    expect(refused).toMatchObject({ status: 400, error: 'invalid_request' });
    expect(refused.fields).toMatchObject({ message: 'no tokens', param: 'input' });
    expect(none.asked).toEqual([]);
    await none.balanced();
  });

  it('embeddings cost nothing when the engine finds that it cannot serve the request', async () => {
    const w = await world(() => ({ kind: 'unfit', detail: 'too long', param: 'input' }));
    expect((await w.refusal()).fields).toMatchObject({ message: 'too long', param: 'input' });
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    await w.balanced();
  });

  it('embeddings are refused for a model that is unknown or no embedding model', async () => {
    const w = await world(() => listed());
    expect(await w.refusal({ model: 'acme/none' })).toMatchObject({ status: 404 });
    expect((await w.refusal({ model: 'acme/words' })).fields).toMatchObject({ param: 'model' });
    expect(w.asked).toEqual([]);
  });
});
