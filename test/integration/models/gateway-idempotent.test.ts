import { describe, expect, it } from 'vitest';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { gatewayWorld } from '../../support/gateway-world.ts';
import { openAiUpstream } from '../../support/openai-upstream.ts';

const AGENT = 1;
const MODEL = 'acme/fast-1';
const messages = [{ role: 'user' as const, content: 'Good morning?' }];

/** One upstream behind the gateway, and an agent with one dollar. */
async function world() {
  const upstream = await openAiUpstream();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_000_000n, reference: 'start' });
  const rates = { text_input_token: '2.5', text_output_token: '10' };
  const gateway = await gatewayWorld({
    ledger,
    providers: { up: { baseUrl: upstream.baseUrl, dialect: 'openai' } },
    models: [
      {
        id: MODEL,
        modality: 'text',
        sources: [{ rail: 'self-host', provider: 'up', upstreamModel: 'x', rates }],
      },
    ],
  });
  const chat = (signal?: AbortSignal) =>
    gateway.openai.chat.completions
      .create(
        { model: MODEL, messages },
        { headers: { 'Idempotency-Key': 'k' }, maxRetries: 0, ...(signal && { signal }) },
      )
      .withResponse();
  return {
    upstream,
    ledger,
    chat,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

describe('POST /v1/chat/completions under an Idempotency-Key', () => {
  it('a chat under an Idempotency-Key is bought once, and replayed with its price', async () => {
    await using w = await world();
    const first = await w.chat();
    const again = await w.chat();
    expect(again.data).toEqual(first.data);
    for (const name of ['x-svc-cost-usdc', 'x-svc-payment', 'x-svc-rail', 'content-type']) {
      expect(again.response.headers.get(name), name).toBe(first.response.headers.get(name));
    }
    expect(first.response.headers.get('x-svc-idempotent-replay')).toBeNull();
    expect(again.response.headers.get('x-svc-idempotent-replay')).toBe('true');
    expect(w.upstream.seen).toHaveLength(1);
    expect(w.ledger.charges).toHaveLength(1);
  });

  it('a chat whose client left before the answer costs nothing, and is bought again under the same Idempotency-Key', async () => {
    await using w = await world();
    w.upstream.faults.push({ kind: 'silence' });
    const leaving = new AbortController();
    const left = w.chat(leaving.signal).catch((error: Error) => error.name);
    await expect.poll(() => w.upstream.seen.length).toBe(1);
    leaving.abort();
    await left;
    await expect.poll(() => w.ledger.openHolds()).toBe(0);
    await expect
      .poll(async () => (await w.chat().catch(() => undefined))?.response.status)
      .toBe(200);
    expect(w.upstream.seen).toHaveLength(2);
    expect(w.ledger.charges.filter(({ costRaw }) => costRaw > 0n)).toHaveLength(1);
  });
});
