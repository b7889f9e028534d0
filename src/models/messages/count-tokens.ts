import type { TokenCounter } from '../../engines/engine.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import { requireModel } from '../catalogue/require-model.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { ChatRail, MessagesRail } from '../providers/chat-rail.ts';
import type { Outcome } from '../providers/outcome.ts';
import type { BuyDeps } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import {
  findOwnSources,
  type KeyedSource,
  type ModelSources,
  pooledSources,
} from '../routing/keyed-sources.ts';
import { countHere } from './count-here.ts';
import { inMessagesWords } from './declined-words.ts';
import { withoutForeignThoughts } from './foreign-thoughts.ts';
import { knownName } from './known-name.ts';
import type { CountRequest } from './messages-request.ts';
import { withOwnToolIds } from './own-tool-ids.ts';
import { requirePricedMessages } from './require-priced.ts';
import { stopAfter } from './stop-after.ts';

export type TokenCount =
  | { readonly kind: 'counted'; readonly inputTokens: number; readonly by: 'provider' | 'estimate' }
  /** The upstream refused the request, with this status and body. */
  | { readonly kind: 'refused'; readonly status: number; readonly body: Uint8Array };

export interface MessageTokens {
  /**
   * Counts the tokens of a prompt. The count is free. An upstream of the dialect that serves the model counts; this server
   * estimates when there is no such upstream or it does not answer. Throws the gateway's refusals.
   */
  count(asked: {
    readonly buyer: Buyer;
    readonly body: CountRequest;
    readonly protocol: Readonly<Record<string, string>>;
  }): Promise<TokenCount>;
}

type CountDeps = Pick<
  BuyDeps<ChatRail>,
  'catalogue' | 'clock' | 'providerKeys' | 'rails' | 'log' | 'random'
> & { readonly tokens: TokenCounter };

type Door = KeyedSource & { readonly rail: MessagesRail };

/** Statuses with which an upstream reports an error in the request that it has read. */
const OBJECTIONS: ReadonlySet<number> = new Set([400, 413, 422]);

export function createMessageTokens(deps: CountDeps): MessageTokens {
  return {
    async count({ body: given, buyer, protocol }) {
      const body = { ...given, model: knownName(deps.catalogue, given.model) };
      const choice = await chooseSources(deps, body, buyer);
      const door = doorOf(deps, choice);
      if (door !== undefined) {
        const asked = await askUpstream(deps, door, { body, buyer, protocol });
        if (asked.kind === 'completed') {
          return { kind: 'counted', inputTokens: asked.inputTokens, by: 'provider' };
        }
        if (asked.kind === 'declined' && OBJECTIONS.has(asked.status)) {
          return { kind: 'refused', status: asked.status, body: asked.body };
        }
        deps.log.info(
          { provider: door.source.provider, kind: asked.kind },
          'a prompt is counted here',
        );
      }
      const isClaude = makerOf(choice.model.id) === 'anthropic';
      const percent = isClaude ? MODEL_LIMITS.count.claudePercent : 100;
      const counted = await countHere(deps.tokens, body, buyer.spender.agentId);
      return { kind: 'counted', inputTokens: Math.ceil((counted * percent) / 100), by: 'estimate' };
    },
  };
}

/**
 * Returns the sources that would serve the answer. A prompt that only a provider key of the buyer may send is not sent through
 * the pool.
 */
async function chooseSources(
  { catalogue, providerKeys, rails }: CountDeps,
  body: CountRequest,
  buyer: Buyer,
): Promise<ModelSources> {
  const own = await findOwnSources({ catalogue, providerKeys }, body.model, buyer);
  const canServe = own?.sources.some(({ source }) => rails.railOf(source) !== undefined);
  if (own?.model.modality === 'text' && canServe === true) return own;
  const model = requireModel(catalogue, body.model, 'text');
  await buyer.admitPooled();
  requirePricedMessages(body);
  return pooledSources(model);
}

function doorOf({ rails }: CountDeps, { sources }: ModelSources): Door | undefined {
  for (const keyed of sources) {
    const rail = rails.railOf(keyed.source)?.messages;
    if (rail !== undefined) return { ...keyed, rail };
  }
  return undefined;
}

/** Requests a count from an upstream, with a time limit of `MODEL_LIMITS.count.waitMs`. */
async function askUpstream(
  { clock, providerKeys }: CountDeps,
  { ownKey, rail, source }: Door,
  { body, buyer, protocol }: Parameters<MessageTokens['count']>[0],
): Promise<Outcome<{ readonly inputTokens: number }>> {
  const { accountId, providerKey, signal: gone, spender } = buyer;
  if (ownKey !== undefined && providerKey === undefined) {
    await providerKeys.noteUse(accountId, source.provider);
  }
  const waiting = stopAfter(clock, MODEL_LIMITS.count.waitMs, gone);
  try {
    const outcome = await rail.count(
      {
        agentId: spender.agentId,
        heldRaw: 0n,
        model: source.upstreamModel,
        body: withOwnToolIds(withoutForeignThoughts(body)),
        headers: protocol,
        paymentMethod: ownKey === undefined ? undefined : { ownKey },
      },
      waiting.signal,
    );
    return inMessagesWords(outcome);
  } finally {
    waiting.over();
  }
}
