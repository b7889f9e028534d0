import type { Mail } from '../../../platform/mail/mailer.ts';
import type { Invite } from './invite.ts';

/** Returns the page where an invite is accepted. The token stands behind `#`, which browsers send to no server. */
export const inviteLink = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/$/, '')}/team/accept#${token}`;

/**
 * Returns the mail of an invite. Callers write no part of it but the address, so that no stranger can send words of his own
 * through this server.
 */
export const inviteMail = (
  { accountId, email, expiresAt, invitedBy, role }: Invite,
  token: string,
  link: string | null,
): Mail => ({
  to: email,
  subject: `Invitation to the account ${accountId}`,
  text: [
    `The wallet ${invitedBy} invites you to the account ${accountId} as ${role}.`,
    '',
    `Sign in with your wallet and accept by ${expiresAt.toISOString()}:`,
    ...(link === null ? [] : [link, '', 'or by the API:']),
    'POST /v1/developer/team/invites/accept',
    JSON.stringify({ token }),
    '',
    'The holder of this token can join the account once. If you do not expect it, ignore this mail.',
    '',
  ].join('\n'),
});
