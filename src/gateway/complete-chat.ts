import type { Bought, BudgetReports } from '../controls/budget-left.ts';
import type { ApiError } from '../kernel/api-error.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Random } from '../kernel/random.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Hold, Ledger, SettleRequest, SettleVerdict, Spender } from '../ledger/ledger.ts';
import type { ChatOutcome, TokenUsage } from '../rails/chat-rail.ts';
import type { SourceRests } from '../rails/rest-failing-source.ts';
import type { Catalogue, Model } from './catalogue.ts';
import { chatCharge } from './chat-charge.ts';
import type { ChatRails } from './chat-rails.ts';
import type { ChatRequest } from './chat-request.ts';
import { chatPriceRaw, chatUsage } from './chat-usage.ts';
import { destinationOf } from './destination.ts';
import { estimateChat, estimatePrompt, tokensOf } from './estimate-chat.ts';
import { holdForRaw, type Offer, planOffers } from './plan-offers.ts';
import { passthroughHeaders, receiptHeaders } from './receipt.ts';
import { refuseHold } from './refuse-hold.ts';
import { type Tried, trySources } from './try-sources.ts';

type ChatPurchase = {
  readonly spender: Spender;
  readonly body: ChatRequest;
  /** Becomes the id of the hold. */
  readonly workId?: string | undefined;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
};

/** An upstream's answer as it came, under our receipt. */
type ChatAnswer = {
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** How long the upstreams took. */
  readonly upstreamMs: number;
};

export interface ChatCompletions {
  /** Throws the gateway's refusals; whatever it throws, nothing was charged. */
  complete(purchase: ChatPurchase): Promise<ChatAnswer>;
}

export type ChatCompletionsDeps = {
  readonly catalogue: Catalogue;
  readonly rails: ChatRails;
  readonly rests: SourceRests;
  readonly ledger: Pick<Ledger, 'hold' | 'settle'>;
  readonly budgets: BudgetReports;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

/** What a call came to: the part of a settlement that only its end can tell. */
type Outcome = Pick<SettleRequest, 'actualRaw' | 'source' | 'charge'>;

/** Buys buffered chat completions: holds the most one can cost, asks the cheapest source, settles to the use. */
export function createChatCompletions(deps: ChatCompletionsDeps): ChatCompletions {
  const { budgets, catalogue, clock, ledger, rails } = deps;

  async function complete(purchase: ChatPurchase): Promise<ChatAnswer> {
    const arrivedMs = clock.monotonicMs();
    const { body, signal, spender } = purchase;
    const model = requireChatModel(catalogue, body.model);
    const bound = estimateChat(body, model.maxOutputTokens);
    const offers = requireOffers(
      model,
      planOffers(model, bound, (source) => rails.railOf(source)),
    );
    const hold = await openHold(deps, purchase, model.id, holdForRaw(offers));

    let resolving = false;
    const settle = (request: Outcome) => {
      resolving = true;
      return ledger.settle({ hold, account: 'gateway', ...request });
    };
    try {
      const call = { agentId: spender.agentId, heldRaw: hold.amountRaw, body };
      const tried = await trySources(deps, { offers, call, signal });
      const request = { spender, model: model.id, arrivedMs, clock, facts: hold.facts };
      return await conclude(request, body, tried, settle);
    } finally {
      // A bug on the way must not keep the agent's money; a settle that was sent is never sent otherwise.
      if (!resolving) await settle({ actualRaw: 0n, source: model.id });
    }
  }

  async function conclude(
    request: Bought & Parameters<typeof chatCharge>[0],
    body: ChatRequest,
    tried: Tried,
    settle: (request: Outcome) => Promise<SettleVerdict>,
  ): Promise<ChatAnswer> {
    const { outcome, source, attempts } = tried;
    const served = { model: request.model, rail: source.rail, attempts };
    if (outcome.kind !== 'completed') {
      const charge = attempts === 0 ? {} : { charge: chatCharge(request, tried, undefined) };
      await settle({ actualRaw: 0n, source: source.provider, ...charge });
      if (outcome.kind !== 'declined') throw refuseOutcome(outcome, tried);
      warnOfRefusedAccount(deps.log, outcome.status, source.provider);
      return relay(outcome, passthroughHeaders(served), tried.upstreamMs);
    }

    const tokens = outcome.usage ?? estimateUsed(body, outcome.answerChars);
    const usage = chatUsage(tokens, source);
    const charge = chatCharge(request, tried, { usage, estimated: outcome.usage === null });
    const actualRaw = chatPriceRaw(tokens, source);
    const verdict = await settle({ actualRaw, source: source.provider, charge });
    const settled = verdict.kind === 'settled' ? verdict : undefined;
    if (settled === undefined)
      deps.log.error({ actualRaw }, 'a hold was resolved by somebody else');
    const budget = settled && (await budgets.left(settled, request));
    const receipt = { ...served, chargedRaw: settled?.chargedRaw ?? 0n, ...budget };
    return relay(outcome, receiptHeaders(receipt), tried.upstreamMs);
  }

  return { complete };
}

async function openHold(
  { ledger, random }: ChatCompletionsDeps,
  { spender, workId }: ChatPurchase,
  modelId: string,
  amountRaw: bigint,
): Promise<Hold> {
  const holdId = workId ?? newId(random, 'chat_');
  const destination = destinationOf(modelId);
  const verdict = await ledger.hold({ spender, holdId, amountRaw, destination });
  if (verdict.kind === 'refused') throw refuseHold(verdict.refusal);
  return verdict.hold;
}

/** Relayed like every other 4xx, but it is the operator's credential that was refused. */
function warnOfRefusedAccount(log: Log, status: number, provider: string): void {
  if (status === 401 || status === 403) {
    log.error({ provider, status }, 'a provider refused the credential of this server');
  }
}

function requireChatModel(catalogue: Catalogue, id: string): Model {
  const model = catalogue.find(id);
  if (model === undefined) throw refuse.gateway.modelNotFound(id, catalogue.suggest(id));
  if (model.modality !== 'text') {
    const message = `"${id}" is a model of modality ${model.modality}; this route takes text models.`;
    throw refuse.gateway.invalidRequest(message, 'model');
  }
  return model;
}

function requireOffers(model: Model, offers: readonly Offer[]): readonly [Offer, ...Offer[]] {
  const [first, ...rest] = offers;
  if (first === undefined) {
    throw refuse.gateway.noSourceAvailable(`No source of "${model.id}" can serve chat here.`);
  }
  return [first, ...rest];
}

/** An answer without usage is billed by the length of what was sent and of what came back. */
const estimateUsed = (body: ChatRequest, answerChars: number): TokenUsage => ({
  inputTokens: estimatePrompt(body),
  cachedTokens: 0,
  outputTokens: tokensOf(answerChars),
});

const relay = (
  answer: { status: number; body: Uint8Array; contentType: string },
  headers: Record<string, string>,
  upstreamMs: number,
): ChatAnswer => ({
  status: answer.status,
  body: answer.body,
  headers: { 'content-type': answer.contentType, ...headers },
  upstreamMs,
});

type Unserved = Exclude<Tried['outcome'], Extract<ChatOutcome, { kind: 'completed' | 'declined' }>>;

function refuseOutcome(outcome: Unserved, { attempts, source }: Tried): ApiError {
  if (outcome.kind === 'aborted') return refuse.request.clientClosed();
  if (outcome.kind === 'unfit') return refuse.gateway.invalidRequest(outcome.detail, 'messages');
  if (outcome.kind === 'resting') {
    return refuse.gateway.noSourceAvailable('Every source of this model failed lately and rests.');
  }
  if (attempts === 1 && outcome.failure === 'missing') {
    return refuse.gateway.noSourceAvailable(outcome.detail);
  }
  if (attempts === 1 && outcome.failure === 'busy' && source.provider === 'local') {
    return refuse.gateway.engineBusy(outcome.retryAfterSeconds ?? 1);
  }
  return refuse.gateway.allSourcesFailed(attempts);
}
