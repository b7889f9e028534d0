import type { Queryable } from '../../../platform/postgres/sql.ts';
import type { Invite, InvitedRole } from './invite.ts';

const columns = (sql: Queryable) => sql`
  id, account_id as "accountId", email, role, invited_by as "invitedBy", created_at as "createdAt",
  expires_at as "expiresAt", ended_as as "endedAs"`;

export type NewInvite = {
  readonly accountId: string;
  readonly email: string;
  readonly role: InvitedRole;
  readonly digest: string;
  readonly invitedBy: string;
  readonly now: Date;
  readonly expiresAt: Date;
};

export async function insertInvite(tx: Queryable, invite: NewInvite): Promise<Invite> {
  const [row] = await tx<Invite[]>`
    insert into invites (account_id, email, role, digest, invited_by, created_at, sent_at, expires_at)
    values (${invite.accountId}, ${invite.email}, ${invite.role}, ${invite.digest},
      ${invite.invitedBy}, ${invite.now}, ${invite.now}, ${invite.expiresAt})
    returning ${columns(tx)}
  `;
  return row as Invite;
}

/** Gives an open invite another token, another end and another sender. Undefined when the account has no such open invite. */
export async function renewInvite(
  tx: Queryable,
  invite: {
    readonly accountId: string;
    readonly id: number;
    readonly digest: string;
    readonly invitedBy: string;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<Invite | undefined> {
  const [row] = await tx<Invite[]>`
    update invites set digest = ${invite.digest}, expires_at = ${invite.expiresAt},
      sends = sends + 1, sent_at = ${invite.now}, invited_by = ${invite.invitedBy}
    where id = ${invite.id} and account_id = ${invite.accountId} and ended_at is null
    returning ${columns(tx)}
  `;
  return row;
}

/** Returns the account's invites that can be accepted at `now`, oldest first. The number of seats bounds them. */
export async function findInvites(sql: Queryable, accountId: string, now: Date): Promise<Invite[]> {
  return sql<Invite[]>`
    select ${columns(sql)} from invites
    where account_id = ${accountId} and ended_at is null and expires_at > ${now} order by id
  `;
}

export async function findInviteByDigest(
  sql: Queryable,
  digest: string,
): Promise<Invite | undefined> {
  const [row] = await sql<Invite[]>`
    select ${columns(sql)} from invites where digest = ${digest}
  `;
  return row;
}

/** Ends an open invite. Returns false when the account has no such open invite. */
export async function endInvite(
  tx: Queryable,
  invite: { readonly accountId: string; readonly id: number; readonly now: Date },
  endedAs: 'accepted' | 'deleted',
): Promise<boolean> {
  const rows = await tx`
    update invites set ended_at = ${invite.now}, ended_as = ${endedAs}
    where id = ${invite.id} and account_id = ${invite.accountId} and ended_at is null
    returning 1
  `;
  return rows.length > 0;
}

/** Ends the open invites that a member has sent. */
export async function endInvitesBy(
  tx: Queryable,
  { accountId, wallet }: { readonly accountId: string; readonly wallet: string },
  now: Date,
): Promise<void> {
  await tx`
    update invites set ended_at = ${now}, ended_as = 'deleted'
    where account_id = ${accountId} and invited_by = ${wallet} and ended_at is null`;
}

/** Ends the account's invites that have expired, and deletes those that ended before `endedBefore`. */
export async function tidyInvites(
  tx: Queryable,
  accountId: string,
  { endedBefore, now }: { readonly endedBefore: Date; readonly now: Date },
): Promise<void> {
  await tx`
    update invites set ended_at = expires_at, ended_as = 'expired'
    where account_id = ${accountId} and ended_at is null and expires_at <= ${now}`;
  await tx`delete from invites where account_id = ${accountId} and ended_at < ${endedBefore}`;
}

/** Returns the emails of the account's members, and of its own wallet where it has one. */
export async function findMemberEmails(
  sql: Queryable,
  accountId: string,
): Promise<readonly { readonly wallet: string; readonly email: string }[]> {
  return sql<{ wallet: string; email: string }[]>`
    select wallet, email from members where account_id = ${accountId}
    union all
    select wallet, lower(email) from developers
    where account_id = ${accountId} and email is not null`;
}

/** Returns the members of an account, without its own wallet. */
export async function countMembers(sql: Queryable, accountId: string): Promise<number> {
  const [row] = await sql<{ members: number }[]>`
    select count(*)::int as members from members where account_id = ${accountId}`;
  return row?.members ?? 0;
}

/** Counts the tokens made since a time: in the account, and for the address in all accounts, one request at a time. */
export async function countSends(
  sql: Queryable,
  { accountId, email, since }: { accountId: string; email: string; since: Date },
): Promise<{ readonly account: number; readonly address: number }> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`invite ${email}`}, 0))`;
  const [row] = await sql<{ account: number; address: number }[]>`
    select
      (select coalesce(sum(sends), 0)::int from invites
        where account_id = ${accountId} and sent_at > ${since}) as account,
      (select coalesce(sum(sends), 0)::int from invites
        where email = ${email} and sent_at > ${since}) as address`;
  return row ?? { account: 0, address: 0 };
}
