import { errors } from '../../kernel/errors.ts';
import { BlockedDestination, Unreachable } from '../../platform/egress/blocked-destination.ts';
import type { DestinationGuard } from '../../platform/egress/destination-guard.ts';

export type WebhookUrlDeps = {
  readonly guard: DestinationGuard;
  /** Also admits http and ws. */
  readonly allowsPlain: boolean;
};

/** A voice webhook is called by HTTPS, or talked to over a secure WebSocket: the same places are open to both. */
const SCHEMES: Readonly<Record<string, { readonly calledAs: string; readonly isPlain: boolean }>> =
  {
    https: { calledAs: 'https', isPlain: false },
    wss: { calledAs: 'https', isPlain: false },
    http: { calledAs: 'http', isPlain: true },
    ws: { calledAs: 'http', isPlain: true },
  };

/** The URL in its normal form, once it is known to lead to a public place. Throws the refusal of one that does not. */
export async function requireWebhookUrl(
  { allowsPlain, guard }: WebhookUrlDeps,
  text: string,
): Promise<string> {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/is.exec(text) ?? [];
  const known = SCHEMES[scheme.toLowerCase()];
  if (known === undefined || (known.isPlain && !allowsPlain)) {
    throw errors.phone.invalidWebhookUrl('must begin with https:// or wss://');
  }
  try {
    const { url } = await guard.admit(`${known.calledAs}:${rest}`);
    return `${scheme.toLowerCase()}${url.slice(known.calledAs.length)}`;
  } catch (error) {
    if (error instanceof BlockedDestination) throw errors.phone.invalidWebhookUrl(error.reason);
    if (!(error instanceof Unreachable)) throw error;
    throw errors.phone.invalidWebhookUrl('the host name does not resolve');
  }
}
