import { describe, expect, it } from 'vitest';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import type { Dialect, Rail } from '../../../../src/models/catalogue/catalogue.ts';
import { createChatRails } from '../../../../src/models/chat/chat-rails.ts';
import type { ChatRail } from '../../../../src/models/providers/chat-rail.ts';
import type { PaidCalls } from '../../../../src/models/providers/paid-calls.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const localGuide: ChatRail = {
  complete: async () => ({ kind: 'aborted' }),
  stream: async () => ({ kind: 'aborted' }),
};

const SPOKEN = ['openai', 'anthropic'] as const;
const UNSPOKEN = ['deepgram', 'openai-realtime'] as const;

function world(paidCalls?: PaidCalls) {
  const dialects: readonly Dialect[] = [...SPOKEN, ...UNSPOKEN];
  const source = (provider: string, rail: Rail = 'direct-account') =>
    ({
      rail,
      provider,
      upstreamModel: 'm',
      rates: { text_input_token: '1', text_output_token: '1' },
    }) as const;
  const catalogue = buildCatalogue({
    providers: new Map(
      dialects.map((dialect) => [dialect, { baseUrl: 'https://x.example/v1', dialect }]),
    ),
    models: [
      { id: 'a/b', modality: 'text', sources: dialects.map((id) => source(id)) },
      { id: 'a/c', modality: 'text', sources: SPOKEN.map((id) => source(id)) },
      { id: 'a/d', modality: 'text', sources: dialects.map((id) => source(id, 'x402-router')) },
    ],
    secret: () => undefined,
  });
  const rails = createChatRails({ catalogue, localGuide, paidCalls, clock: new ManualClock() });
  const railOf = (provider: string, rail?: Rail) =>
    rails.railOf({ ...source(provider, rail), rates: {}, marginBps: 0 });
  return { rails, railOf };
}

describe('the way to a provider of chat', () => {
  it('each provider whose dialect supports chat has one rail for all its models', async () => {
    const { rails, railOf } = world();
    await using _ = rails;
    for (const dialect of SPOKEN) expect(railOf(dialect)).toBeDefined();
    expect(railOf('openai')).not.toBe(railOf('anthropic'));
    expect(railOf('anthropic')).toBe(railOf('anthropic'));
    expect(railOf('local')).toBe(localGuide);
  });

  it('there is no chat rail for other dialects, nor for x402 sources when payments are unavailable', async () => {
    const { rails, railOf } = world();
    await using _ = rails;
    for (const dialect of UNSPOKEN) expect(railOf(dialect)).toBeUndefined();
    expect(railOf('nobody')).toBeUndefined();
    expect(railOf('anthropic', 'byok')).toBe(railOf('anthropic'));
    expect(railOf('openai', 'x402-router')).toBeUndefined();
  });

  it('an x402 source has a chat rail of its own when payments are available', async () => {
    const paidCalls = { send: () => Promise.reject(new Error('no provider is asked')) };
    const { rails, railOf } = world(paidCalls);
    await using _ = rails;
    expect(railOf('openai', 'x402-router')).toBeDefined();
    expect(railOf('openai', 'x402-router')).not.toBe(railOf('openai'));
    expect(railOf('anthropic', 'x402-router')).toBeUndefined();
    expect(railOf('local', 'x402-router')).toBeUndefined();
  });

  it('a chat rail speaks its provider’s dialect', async () => {
    const { rails, railOf } = world();
    await using _ = rails;
    const body = { messages: [{ role: 'user', content: 'Hi' }], n: 2 };
    const call = { agentId: 1, heldRaw: 1n, model: 'm', body };
    const outcome = await railOf('anthropic')?.complete(call, new AbortController().signal);
    expect(outcome).toMatchObject({ kind: 'unfit', detail: expect.stringMatching(/^n /) });
    const aborted = await railOf('openai')?.complete(call, AbortSignal.abort());
    expect(aborted).toEqual({ kind: 'aborted' });
  });
});
