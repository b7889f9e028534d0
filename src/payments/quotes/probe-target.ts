import type { CheckedDestination } from '../../platform/egress/destination-guard.ts';
import { FairShares, takeFairly } from '../../platform/egress/fair-shares.ts';
import type { GuardedClient, GuardedMethod } from '../../platform/egress/guarded-client.ts';
import { type Challenge, type ParsedChallenge, parseChallenge } from '../../x402/challenge.ts';
import type { Terms } from '../../x402/offer.ts';
import { proxyErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { vendorAnswer } from '../proxy/read-challenge.ts';
import { askVendor } from '../proxy/vendor-call.ts';

/** A target's answer to a request without a body and without a payment. */
export type Probed =
  | { readonly kind: 'priced'; readonly challenge: Challenge }
  /** The target requests no payment, or requests a payment in another protocol (402). */
  | { readonly kind: 'unpriced'; readonly status: number }
  | Extract<ParsedChallenge, { kind: 'unreadable' }>;

export type Probe = (
  destination: CheckedDestination,
  method: GuardedMethod,
  signal: AbortSignal,
) => Promise<Probed>;

/**
 * Creates the probe of targets' prices, which reads no more of an answer than a challenge may have. At most `atOnce` targets
 * are probed at a time, in fair shares, so that connections are left to paid calls. The probe throws the refusal when no answer
 * comes.
 */
export function createProbe(deps: {
  readonly client: Pick<GuardedClient, 'send'>;
  readonly terms: Terms;
  readonly atOnce: number;
}): Probe {
  const { client, terms, atOnce } = deps;
  const shares = new FairShares(atOnce);

  async function ask(...[destination, method, signal]: Parameters<Probe>): Promise<Probed> {
    const request = { method, headers: ANYTHING, body: undefined };
    const answer = await askVendor(client, destination, request, TIMES, signal);
    if (answer.status !== PAYMENT_REQUIRED) {
      answer.discard();
      return { kind: 'unpriced', status: answer.status };
    }
    const parsed = parseChallenge(await vendorAnswer(answer), terms);
    switch (parsed.kind) {
      case 'challenge':
        return { kind: 'priced', challenge: parsed.challenge };
      case 'unreadable':
        return parsed;
      case 'absent':
        return { kind: 'unpriced', status: PAYMENT_REQUIRED };
    }
  }

  return async (destination, method, signal) => {
    const { asker } = destination;
    const giveBack = await takeFairly(asker, (hasMoney) => shares.take(asker, hasMoney));
    if (giveBack === undefined) throw proxyErrors.unreachable(BUSY);
    try {
      return await ask(destination, method, signal);
    } finally {
      giveBack();
    }
  };
}

export const PAYMENT_REQUIRED = 402;

const TIMES = { unpaidMs: PAYMENT_LIMITS.quote.probeMs, idleMs: PAYMENT_LIMITS.quote.probeMs };

const ANYTHING = [['accept', '*/*']] as const;

const BUSY = 'This server asks as many targets as it may at a time; try again shortly.';
