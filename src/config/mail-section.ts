import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { optional, text } from './variable-kinds.ts';

/** Environment variables of outgoing mail. */
export const MAIL_SECTION = {
  MAIL_URL: optional(z.url({ protocol: /^smtps?$/ })).meta({
    description:
      'The mail server that sends invites, with its user and password. `smtps` is TLS from the first byte (port 465); `smtp` ' +
      'begins in the clear (port 587), and needs STARTTLS where the URL has a password. See [account.md](api-behaviour/account.md#invites).',
    takes: '`smtp://…` or `smtps://…`',
    unset: 'the answer to an invite shows its token',
  }),
  MAIL_FROM: text().meta({
    description: 'The sender of mails, as the mail server admits it. Required beside `MAIL_URL`.',
    takes: 'an address',
    unset: 'no mail is sent',
  }),
};

const Mail = z.object(MAIL_SECTION);

/**
 * Reads the mail server and the sender. Undefined: no mail is sent. Throws ConfigError, which names the variable, when one is set
 * without the other.
 */
export function assembleMail({ MAIL_FROM: from, MAIL_URL: address }: z.output<typeof Mail>) {
  if (address === undefined && from === undefined) return undefined;
  if (address === undefined) throw new ConfigError('MAIL_URL is required beside MAIL_FROM');
  if (from === undefined) throw new ConfigError('MAIL_FROM is required beside MAIL_URL');
  if (!/^[^\s@<>,;:"()]{1,64}@[^\s@<>,;:"()]{1,189}$/.test(from)) {
    throw new ConfigError(`Invalid MAIL_FROM "${from}": must be one address`);
  }
  const url = new URL(address);
  if (url.hostname === '') throw new ConfigError('Invalid MAIL_URL: must name a server');
  const isSecure = url.protocol === 'smtps:';
  return {
    from,
    server: {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
      isSecure,
      user: decoded('MAIL_URL', url.username),
      password: decoded('MAIL_URL', url.password),
    },
  } as const;
}

function decoded(name: string, part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ConfigError(`Invalid ${name}: its user and password must be percent-encoded`);
  }
}
