import { parseAmountRaw } from '../../../kernel/amount.ts';
import { assert } from '../../../kernel/assert.ts';
import { BRAND } from '../../../kernel/ids.ts';
import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject } from '../../../kernel/json.ts';
import {
  ModelRefused,
  type Models,
  type Purchase,
  type PurchaseCost,
} from '../../../memory/purchase/models.ts';
import type { Catalogue } from '../../../models/catalogue/catalogue.ts';
import type { ChatCompletions } from '../../../models/chat/complete-chat.ts';
import type { Embeddings } from '../../../models/embeddings/buy-embeddings.ts';
import { readUnitVectors } from '../../../models/embeddings/read-vectors.ts';
import type { Relayed } from '../../../models/purchase/answer.ts';
import type { Buyer } from '../../../models/purchase/buyer.ts';

export type MemoryModelDeps = {
  readonly catalogue: Pick<Catalogue, 'find' | 'findKeyed'>;
  readonly chat: ChatCompletions;
  readonly embeddings: Embeddings;
  /** Finds the account of an agent, whose stored provider keys may pay for the model. */
  findOwner(agentId: number): Promise<{ readonly accountId: string } | undefined>;
};

/** Creates the models of the memory store: it buys them from the gateway for an agent, at the agent's cost. */
export function createMemoryModels({
  catalogue,
  chat,
  embeddings,
  findOwner,
}: MemoryModelDeps): Models {
  const takesTemperature = (model: string): boolean => {
    const { sources = [] } = catalogue.find(model) ?? catalogue.findKeyed(model) ?? {};
    return sources.every(({ sampling }) => sampling === undefined || sampling === 'either');
  };
  const buyerOf = async (purchase: Purchase): Promise<Buyer> => {
    const { admitPooled = () => undefined, signal, span, spender, workId } = purchase;
    const owner = await findOwner(spender.agentId);
    const accountId = owner?.accountId ?? '';
    return {
      spender,
      accountId,
      providerKey: undefined,
      workId,
      signal,
      admitPooled,
      promptCaching: 'off',
      span,
    };
  };
  return {
    async embed({ model, texts, ...purchase }, keep) {
      const body = { model, input: [...texts], encoding_format: 'base64' as const };
      const answer = await embeddings.embed({
        body,
        buyer: await buyerOf(purchase),
        async keep(list) {
          const vectors = await readUnitVectors(list.body);
          if (vectors === undefined) throw new ModelRefused(UNREADABLE);
          await keep(vectors);
        },
      });
      return billOf(answer);
    },
    async answer({ maxTokens, model, prompt, system, ...purchase }, keep) {
      const messages = [
        { role: 'system' as const, content: system },
        { role: 'user' as const, content: prompt },
      ];
      const body = {
        model,
        messages,
        max_completion_tokens: maxTokens,
        // A chat request is relayed unchanged, and some models refuse a temperature.
        ...(takesTemperature(model) && { temperature: 0 }),
      };
      const answer = await chat.complete({
        body,
        buyer: await buyerOf(purchase),
        keep: ({ body: completion }) => keep(contentOf(completion)),
      });
      assert('body' in answer, 'an answer that is not streamed comes whole');
      return billOf(answer as Relayed);
    },
  };
}

/** HTTP status for an answer of a provider that cannot be read. */
const UNREADABLE = 422;

/** Returns the text of a completion's first choice; empty when the completion has no choice with a text. */
function contentOf(completion: Uint8Array): string {
  const told = tryParseJson(completion, JSON_LIMITS.upstream);
  const choices = isObject(told) ? told.choices : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(choice) ? choice.message : undefined;
  return isObject(message) && typeof message.content === 'string' ? message.content : '';
}

const COST = `${BRAND.headerPrefix}cost-usdc`;
const PAYMENT = `${BRAND.headerPrefix}payment`;

/** Returns the cost and the receipt headers of a purchase. Throws ModelRefused when the provider itself refused the request. */
function billOf({ headers, status, upstreamMs }: Relayed): PurchaseCost {
  if (status >= 400) throw new ModelRefused(status);
  const costRaw = parseAmountRaw(headers[COST] ?? '');
  assert(costRaw !== undefined, 'a receipt says what was charged');
  const { 'content-type': _, ...receipt } = headers;
  const payment = headers[PAYMENT] === 'byok' ? 'byok' : 'gateway';
  return { costRaw, headers: receipt, payment, upstreamMs };
}
