import { describe, expect, it } from 'vitest';
import { createMemoryModels } from '../../../../../src/app/build/memory/memory-models.ts';
import { buildCatalogue } from '../../../../../src/models/catalogue/build-catalogue.ts';
import { BUILTIN_MODELS } from '../../../../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../../../../src/models/catalogue/builtin/providers.ts';

const catalogue = buildCatalogue({
  providers: new Map(Object.entries(BUILTIN_PROVIDERS)),
  models: BUILTIN_MODELS,
  secret: () => 'sk-pool',
});

/** What the gateway is asked for when the store has a model write down the facts of a text. */
async function askedOf(model: string): Promise<object> {
  let asked: object = {};
  const stop = new Error('asked');
  const models = createMemoryModels({
    catalogue,
    chat: {
      complete({ body }) {
        asked = body;
        return Promise.reject(stop);
      },
    },
    embeddings: { embed: () => Promise.reject(stop) },
    findOwner: async () => ({ accountId: 'acct_000000000001' }),
  });
  const spender = { agentId: 1, keyId: 1 } as never;
  const purchase = { model, maxTokens: 64, prompt: 'x', system: 'y', spender, workId: 'w' };
  await expect(
    models.answer({ ...purchase, signal: new AbortController().signal } as never, async () => {}),
  ).rejects.toBe(stop);
  return asked;
}

describe('the model that writes down facts for the memory store', () => {
  it.each(['openai/gpt-4o-mini', 'anthropic/claude-haiku-4-5', 'mistral/mistral-large'])(
    'the memory store’s fact model is called with a temperature of 0 where the model accepts one: %s',
    async (model) => {
      expect(await askedOf(model)).toMatchObject({ model, temperature: 0 });
    },
  );

  it.each(['openai/gpt-5.4', 'openai/gpt-6.1-sol', 'anthropic/claude-sonnet-5'])(
    'the memory store’s fact model is called without a temperature where the model accepts none: %s',
    async (model) => {
      expect(await askedOf(model)).not.toHaveProperty('temperature');
    },
  );
});
