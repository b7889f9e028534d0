import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { priceRaw } from '../../../../src/kernel/price.ts';
import { buildCatalogue } from '../../../../src/models/catalogue/build-catalogue.ts';
import { BUILTIN_MODELS } from '../../../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../../../src/models/catalogue/builtin/providers.ts';
import { byokSource } from '../../../../src/models/catalogue/byok-source.ts';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { boundChat } from '../../../../src/models/chat/bound-chat.ts';
import { chatPriceRaw, meterChat } from '../../../../src/models/chat/chat-price.ts';
import { ChatRequest } from '../../../../src/models/chat/chat-request.ts';
import { readMessageUsage } from '../../../../src/models/providers/anthropic/message-usage.ts';
import type { TokenUsage } from '../../../../src/models/providers/chat-rail.ts';
import { readUsage } from '../../../../src/models/providers/openai/read-completion.ts';
import { readResponseUsage } from '../../../../src/models/providers/responses/response-usage.ts';

const catalogue = buildCatalogue({
  providers: new Map(Object.entries(BUILTIN_PROVIDERS)),
  models: BUILTIN_MODELS,
  secret: () => 'sk-test',
});

/** Parts of a prompt that no other part has, and an answer. */
type Parts = {
  readonly fresh: number;
  readonly served: number;
  readonly minutes: number;
  readonly hour: number;
  readonly output: number;
};

const count = fc.nat(16_000);
const parts: fc.Arbitrary<Parts> = fc.record({
  fresh: count,
  served: count,
  minutes: count,
  hour: count,
  output: count,
});

const promptOf = ({ fresh, served }: Parts, written = 0) => fresh + served + written;

type Vendor = {
  readonly name: string;
  readonly model: string;
  read(parts: Parts): TokenUsage | null;
  /** Prompt tokens that are billed for what was written, beyond those that it has: in quarters. */
  writtenQuarters?(parts: Parts): number;
  written?(parts: Parts): number;
};

const openAi = (model: string, cachedMember: (served: number) => object): Vendor => ({
  name: model,
  model,
  read: (p) =>
    readUsage({
      prompt_tokens: promptOf(p),
      completion_tokens: p.output,
      ...cachedMember(p.served),
    }),
});
const details = (cached_tokens: number) => ({ prompt_tokens_details: { cached_tokens } });

const VENDORS: readonly Vendor[] = [
  ...['openai/gpt-4o', 'xai/grok-4.7', 'google/gemini-2.5-flash', 'mistral/mistral-large'].map(
    (model) => openAi(model, details),
  ),
  openAi('deepseek/deepseek-v4-flash', (served) => ({ prompt_cache_hit_tokens: served })),
  openAi('moonshot/kimi-k2.6', (served) => ({ cached_tokens: served })),
  {
    name: 'gpt-5.6 in chat',
    model: 'openai/gpt-5.6-luna',
    read: (p) =>
      readUsage({
        prompt_tokens: promptOf(p, p.minutes),
        completion_tokens: p.output,
        prompt_tokens_details: { cached_tokens: p.served, cache_write_tokens: p.minutes },
      }),
    written: ({ minutes }) => minutes,
    writtenQuarters: ({ minutes }) => minutes,
  },
  {
    name: 'gpt-5.6 in Responses',
    model: 'openai/gpt-5.6-luna',
    read: (p) =>
      readResponseUsage({
        input_tokens: promptOf(p, p.minutes),
        output_tokens: p.output,
        input_tokens_details: { cached_tokens: p.served, cache_write_tokens: p.minutes },
      }),
    written: ({ minutes }) => minutes,
    writtenQuarters: ({ minutes }) => minutes,
  },
  {
    name: 'claude',
    model: 'anthropic/claude-sonnet-5',
    read: (p) =>
      readMessageUsage({
        input_tokens: p.fresh,
        output_tokens: p.output,
        cache_read_input_tokens: p.served,
        cache_creation_input_tokens: p.minutes + p.hour,
        cache_creation: {
          ephemeral_5m_input_tokens: p.minutes,
          ephemeral_1h_input_tokens: p.hour,
        },
      }),
    written: ({ hour, minutes }) => hour + minutes,
    writtenQuarters: ({ hour, minutes }) => minutes + 4 * hour,
  },
];

const sourceOf = (model: string): Source => {
  const source = catalogue.find(model)?.sources[0];
  if (source === undefined) throw new Error(`nothing sells ${model}`);
  return source;
};

/** Quarters of 10^-12 dollars with their margin, in raw USDC, rounded up. */
const inRaw = (quarters: bigint, marginBps: number): bigint => {
  const one = 4n * 10n ** 6n * 10_000n;
  return (quarters * BigInt(10_000 + marginBps) + one - 1n) / one;
};

const asked = ChatRequest.parse({ model: 'a/b', messages: [{ role: 'user', content: 'x' }] });

describe.each(VENDORS)('the price of a cached prompt by the rule of $name', (vendor) => {
  const source = sourceOf(vendor.model);
  const { marginBps } = source;
  const { cached_input_token: cached = 0n, text_input_token: input = 0n } = source.rates;
  const { text_output_token: out = 0n } = source.rates;
  const billed = (p: Parts) => {
    const usage = vendor.read(p);
    if (usage === null) throw new Error('the usage makes no sense');
    return meterChat(asked, { usage, answerChars: 0 }, source);
  };

  it('each part of a cached prompt is billed at its own rate, to the raw unit', () => {
    expect(cached).toBeGreaterThan(0n);
    fc.assert(
      fc.property(parts, (p) => {
        const written = vendor.written?.(p) ?? 0;
        const inputQuarters = 4 * (p.fresh + written) + (vendor.writtenQuarters?.(p) ?? 0);
        const quarters =
          BigInt(inputQuarters) * input + 4n * (BigInt(p.served) * cached + BigInt(p.output) * out);
        const { rates = source.rates, usage } = billed(p);
        expect(priceRaw(usage, rates, marginBps)).toBe(inRaw(quarters, marginBps));
      }),
    );
  });

  it('the usage of a cached prompt includes its cost without the cache', () => {
    fc.assert(
      fc.property(parts, (p) => {
        const written = vendor.written?.(p) ?? 0;
        const { uncached } = billed(p);
        if (p.served === 0 && written === 0) expect(uncached).toBeUndefined();
        else {
          expect(uncached).toEqual({
            text_input_token: promptOf(p, written),
            text_output_token: p.output,
          });
        }
      }),
    );
  });
});

it('a response paid with the caller’s own key reports no cache savings', () => {
  const usage = { inputTokens: 1_200, cachedTokens: 1_024, outputTokens: 8 };
  const own = byokSource('anthropic', 'claude-opus-5');
  expect(meterChat(asked, { usage, answerChars: 0 }, own).uncached).toBeUndefined();
});

describe('what an upstream claims of its cache', () => {
  const claim = fc.oneof(fc.nat(10_000_000), fc.constantFrom(-1, 1.5, 'x', null, Number.MAX_VALUE));
  const modelOf = (source: Source): Model => ({
    id: 'a/b',
    modality: 'text',
    contextWindow: null,
    maxOutputTokens: 64,
    sources: [source],
  });

  it.each([
    ['openai/gpt-5.6-luna', undefined],
    ['anthropic/claude-sonnet-5', 16],
  ])(
    'the charge at %s never exceeds the hold, whatever cache usage the upstream reports',
    (name, markedFrom) => {
      const source = sourceOf(name);
      const prompt = fc.string({ minLength: 16, maxLength: 400 });
      fc.assert(
        fc.property(prompt, claim, claim, claim, claim, (content, fresh, served, kept, hour) => {
          const request = ChatRequest.parse({
            model: 'a/b',
            messages: [{ role: 'user', content }],
          });
          const { tokens } = boundChat(request, modelOf(source), markedFrom);
          const usage =
            markedFrom === undefined
              ? readUsage({
                  prompt_tokens: fresh,
                  completion_tokens: 64,
                  prompt_tokens_details: { cached_tokens: served, cache_write_tokens: kept },
                })
              : readMessageUsage({
                  input_tokens: fresh,
                  output_tokens: 64,
                  cache_read_input_tokens: served,
                  cache_creation_input_tokens: kept,
                  cache_creation: { ephemeral_1h_input_tokens: hour },
                });
          const { rates, usage: billed } = meterChat(
            request,
            { usage, answerChars: 0 },
            source,
            tokens,
          );
          for (const quantity of Object.values(billed)) expect(quantity).toBeGreaterThanOrEqual(0);
          // The ledger charges no more than what is held; what comes near it is what one counts otherwise.
          const around = { ...tokens, inputTokens: tokens.inputTokens + 2_048 };
          expect(priceRaw(billed, rates ?? source.rates, source.marginBps)).toBeLessThanOrEqual(
            chatPriceRaw({ ...around, cacheWriteTokens: around.inputTokens }, source),
          );
        }),
      );
    },
  );

  it('a prompt that this server marks for caching is held at the cost of writing all of it to the cache', () => {
    const source = sourceOf('anthropic/claude-sonnet-5');
    const content = 'y'.repeat(4_000);
    const request = ChatRequest.parse({ model: 'a/b', messages: [{ role: 'user', content }] });
    const { tokens } = boundChat(request, modelOf(source), 1_024);
    const worst = {
      inputTokens: 4_000,
      cachedTokens: 0,
      outputTokens: 64,
      cacheWriteTokens: 4_000,
      cacheWriteSurcharge: 1_000,
    };
    expect(chatPriceRaw(tokens, source)).toBeGreaterThanOrEqual(chatPriceRaw(worst, source));
    expect(boundChat(request, modelOf(source)).tokens.inputTokens).toBe(4_008);
    expect(boundChat(request, modelOf(source), 4_009).tokens.inputTokens).toBe(4_008);
    expect(boundChat(request, modelOf(source), 4_008).tokens.inputTokens).toBe(5_010);
  });
});
