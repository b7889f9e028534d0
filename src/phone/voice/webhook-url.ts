import {
  BlockedDestination,
  PlainHttp,
  Unreachable,
} from '../../platform/egress/blocked-destination.ts';
import type { DestinationGuard } from '../../platform/egress/destination-guard.ts';
import { phoneErrors } from '../errors.ts';

export type WebhookUrlDeps = {
  /** Guard of outbound destinations. Plain http is allowed for the hosts that it permits. */
  readonly guard: DestinationGuard;
};

/** Scheme by which a URL is checked: wss as HTTPS and ws as HTTP, since the same hosts are allowed for both. */
const CALLED_AS: Readonly<Record<string, string>> = {
  https: 'https',
  wss: 'https',
  http: 'http',
  ws: 'http',
};

const notSecure = () => phoneErrors.invalidWebhookUrl('must begin with https:// or wss://');

/** Checks the URL for incoming calls as `requireWebhookUrl` does, but allows HTTPS alone, and returns it. */
export async function requireInboundUrl({ guard }: WebhookUrlDeps, text: string): Promise<string> {
  const refuse = phoneErrors.invalidInboundUrl;
  if (!/^https?:/i.test(text)) throw refuse('must begin with https://');
  return admit(guard, text, { refuse, plain: () => refuse('must begin with https://') });
}

/** Returns a URL in its normal form, once the guard admits its host. Throws when the guard refuses it. */
export async function requireWebhookUrl({ guard }: WebhookUrlDeps, text: string): Promise<string> {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/is.exec(text) ?? [];
  const calledAs = CALLED_AS[scheme.toLowerCase()];
  if (calledAs === undefined) throw notSecure();
  const refuse = phoneErrors.invalidWebhookUrl;
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
