import type { PromptCaching } from '../../accounts/keys/key.ts';
import {
  PROVIDER_KEY_HEADER,
  readProviderKey,
} from '../../accounts/provider-keys/provider-key-header.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Span } from '../../platform/tracing/span.ts';
import { gatewayErrors } from '../errors.ts';
import { readSpender } from './read-spender.ts';

/** Buyer of a request, and the parts of the request that every purchase needs. */
export type Buyer = {
  readonly spender: Spender;
  /** Account whose stored provider keys the request may use. */
  readonly accountId: string;
  /** Provider key that came with the request. It is sent to that provider only. */
  readonly providerKey: string | undefined;
  /** Setting that decides if the server marks the prompt for caches. */
  readonly promptCaching: PromptCaching;
  /** Id for the hold. Undefined: a new id. */
  readonly workId: string | undefined;
  /** Fires when the client leaves. */
  readonly signal: StopSignal;
  /** Counts the request against the rate limit of the pool, once. Throws the 429. */
  readonly admitPooled: () => Promise<void> | undefined;
  /** Parent span of the purchase. Undefined: the purchase is not traced. */
  readonly span: Span | undefined;
};

type BuyersRequest = Pick<Buyer, 'workId' | 'signal' | 'admitPooled' | 'span'> & {
  readonly caller: Parameters<typeof readSpender>[0] & Pick<Buyer, 'accountId' | 'promptCaching'>;
  readonly headers: ReadonlyMap<string, string>;
};

/** Reads the buyer from a request. Throws the refusal of an invalid provider key. */
export function readBuyer(request: BuyersRequest): Buyer {
  const { admitPooled, caller, headers, signal, span, workId } = request;
  return {
    spender: readSpender(caller, headers),
    accountId: caller.accountId,
    promptCaching: caller.promptCaching,
    providerKey: readProviderKey(headers),
    workId,
    signal,
    admitPooled,
    span,
  };
}

/**
 * Returns the buyer of a request that must have a provider key and is forwarded unchanged. Throws the refusal of a request
 * without a key.
 */
export function readKeyedBuyer(request: BuyersRequest): Buyer {
  const buyer = readBuyer(request);
  if (buyer.providerKey === undefined) throw gatewayErrors.providerKeyRequired(PROVIDER_KEY_HEADER);
  return { ...buyer, promptCaching: 'off' };
}
