import type { Log } from '../../../kernel/log.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { type Invite, inviteRecord } from './invite.ts';
import { inviteLink, inviteMail } from './invite-mail.ts';

export type Delivering = {
  readonly log: Log;
  /** URL of this server in links. Undefined: invites have no link. */
  readonly publicUrl: string | undefined;
  /** Undefined when no mail server is configured: the answer then has the token. */
  readonly mailer: Mailer | undefined;
};

const SHOWN = 'This server sends no mail. Hand the token over yourself; it is not shown again.';
const MAILED = 'The invite was handed to the mail server.';
const failed = (reason: string, id: number) =>
  `The invite stands, but its mail was not sent: ${reason}. Send it again with POST /v1/developer/team/invites/${id}/resend, or delete it.`;

/** Mails the token of an invite that is committed, and returns the answer. Without a mail server the answer has the token. */
export async function deliverInvite(
  { log, mailer, publicUrl }: Delivering,
  invite: Invite,
  token: string,
) {
  const link = publicUrl === undefined ? null : inviteLink(publicUrl, token);
  const record = inviteRecord(invite);
  if (mailer === undefined) {
    return { invite: record, delivery: 'shown', message: SHOWN, token, link } as const;
  }
  const outcome = await mailer.send(inviteMail(invite, token, link));
  if (outcome.kind === 'sent') {
    return { invite: record, delivery: 'mailed', message: MAILED } as const;
  }
  const { reason, status } = outcome;
  log.warn({ inviteId: invite.id, reason, status }, 'an invite was not mailed');
  return { invite: record, delivery: 'failed', message: failed(reason, invite.id) } as const;
}
