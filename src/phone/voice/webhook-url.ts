import { errors } from '../../kernel/errors.ts';
import {
  BlockedDestination,
  PlainHttp,
  Unreachable,
} from '../../platform/egress/blocked-destination.ts';
import type { DestinationGuard } from '../../platform/egress/destination-guard.ts';

export type WebhookUrlDeps = {
  /** Admits plain http where it admits the place. */
  readonly guard: DestinationGuard;
};

/** A voice webhook is called by HTTPS, or talked to over a secure WebSocket: the same places are open to both. */
const CALLED_AS: Readonly<Record<string, string>> = {
  https: 'https',
  wss: 'https',
  http: 'http',
  ws: 'http',
};

const notSecure = () => errors.phone.invalidWebhookUrl('must begin with https:// or wss://');

/** The URL in its normal form, once it is known to lead to a public place. Throws the refusal of one that does not. */
export async function requireWebhookUrl({ guard }: WebhookUrlDeps, text: string): Promise<string> {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/is.exec(text) ?? [];
  const calledAs = CALLED_AS[scheme.toLowerCase()];
  if (calledAs === undefined) throw notSecure();
  try {
    const { url } = await guard.admit(`${calledAs}:${rest}`);
    return `${scheme.toLowerCase()}${url.slice(calledAs.length)}`;
  } catch (error) {
    if (error instanceof PlainHttp) throw notSecure();
    if (error instanceof BlockedDestination) throw errors.phone.invalidWebhookUrl(error.reason);
    if (!(error instanceof Unreachable)) throw error;
    throw errors.phone.invalidWebhookUrl('the host name does not resolve');
  }
}
