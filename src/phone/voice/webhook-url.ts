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

/** The address that is asked before a call from outside is answered, as `requireWebhookUrl` checks it; it is called by HTTPS alone. */
export async function requireInboundUrl({ guard }: WebhookUrlDeps, text: string): Promise<string> {
  const refuse = errors.phone.invalidInboundUrl;
  if (!/^https?:/i.test(text)) throw refuse('must begin with https://');
  return admit(guard, text, { refuse, plain: () => refuse('must begin with https://') });
}

/** The URL in its normal form, once it is known to lead to a public place. Throws the refusal of one that does not. */
export async function requireWebhookUrl({ guard }: WebhookUrlDeps, text: string): Promise<string> {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/is.exec(text) ?? [];
  const calledAs = CALLED_AS[scheme.toLowerCase()];
  if (calledAs === undefined) throw notSecure();
  const refuse = errors.phone.invalidWebhookUrl;
  const url = await admit(guard, `${calledAs}:${rest}`, { refuse, plain: notSecure });
  return `${scheme.toLowerCase()}${url.slice(calledAs.length)}`;
}

async function admit(
  guard: DestinationGuard,
  text: string,
  { plain, refuse }: { readonly plain: () => Error; readonly refuse: (why: string) => Error },
): Promise<string> {
  try {
    return (await guard.admit(text)).url;
  } catch (error) {
    if (error instanceof PlainHttp) throw plain();
    if (error instanceof BlockedDestination) throw refuse(error.reason);
    if (!(error instanceof Unreachable)) throw error;
    throw refuse('the host name does not resolve');
  }
}
