import { isObject } from '../../kernel/json.ts';
import type { Asker } from '../../platform/egress/fair-shares.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import type { Challenge } from '../../x402/challenge.ts';
import { chooseOffer, type PaymentOffer, type Terms } from '../../x402/offer.ts';
import { vendorText } from '../../x402/settlement.ts';
import { proxyErrors } from '../errors.ts';
import { PAYMENT_REQUIRED, type Probe } from '../quotes/probe-target.ts';
import { openVendor } from './vendor-call.ts';

/** Public result of checking a target: the payment that it demands, or none. */
export type Checked =
  | {
      readonly x402: true;
      readonly status: 402;
      readonly x402Version: 1 | 2;
      readonly payment: {
        readonly amount: string;
        readonly asset: string;
        readonly payTo: string;
        readonly network: string;
        readonly scheme: string;
        readonly maxTimeoutSeconds: number | null;
        readonly description: string | null;
      };
    }
  | { readonly x402: false; readonly status: number; readonly message: string };

export type TargetCheck = (
  url: string,
  clientNetwork: string,
  signal: AbortSignal,
) => Promise<Checked>;

/**
 * Creates the check of a target, which requests its price with a plain GET, now. The check throws the refusals of the proxy;
 * nothing is paid or kept.
 */
export const createTargetCheck =
  (deps: {
    readonly client: Pick<GuardedClient, 'open'>;
    readonly probe: Probe;
    readonly terms: Terms;
  }): TargetCheck =>
  async (url, clientNetwork, signal) => {
    const asker = strangerOf(clientNetwork);
    const probed = await deps.probe(await openVendor(deps.client, url, asker), 'GET', signal);
    switch (probed.kind) {
      case 'priced':
        return { x402: true, status: PAYMENT_REQUIRED, ...describe(probed.challenge, deps.terms) };
      case 'unreadable':
        throw proxyErrors.unreadableChallenge(probed.code, probed.detail);
      case 'unpriced':
        return { x402: false, status: probed.status, message: sentenceOf(probed.status) };
    }
  };

const strangerOf = (network: string): Asker => ({
  account: network,
  agent: network,
  hasMoney: async () => false,
});

function describe(challenge: Challenge, { chainId }: Terms) {
  const offer = chooseOffer(challenge.offers) as PaymentOffer;
  const { amountRaw, scheme, maxTimeoutSeconds = null, entry } = offer;
  const { resource } = challenge;
  const described = entry.description ?? (isObject(resource) ? resource.description : undefined);
  return {
    x402Version: challenge.version,
    payment: {
      amount: amountRaw.toString(),
      // The vendor's own spelling, so that a client can compare both values with the vendor's 402.
      asset: String(entry.asset),
      payTo: String(entry.payTo),
      network: `eip155:${chainId}`,
      scheme,
      maxTimeoutSeconds,
      description: vendorText(described) ?? null,
    },
  };
}

const sentenceOf = (status: number): string =>
  status === PAYMENT_REQUIRED
    ? 'The target answers 402 and does not say what it wants to be paid.'
    : `The target answers ${status} to a plain GET and demands no payment for it.`;
