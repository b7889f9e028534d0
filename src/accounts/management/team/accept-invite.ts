import type { Queryable, Sql } from '../../../platform/postgres/sql.ts';
import { lockAccount } from '../../developers/developer-store.ts';
import { ownerWalletOf } from '../../developers/owner-wallet.ts';
import { findRole } from '../../developers/role-store.ts';
import { teamErrors } from '../../errors.ts';
import { ACCOUNT_LIMITS } from '../../limits.ts';
import type { Invite } from './invite.ts';
import { countMembers, endInvite, findInviteByDigest } from './invite-store.ts';
import { insertMember } from './member-store.ts';

type Acceptance = { readonly wallet: string; readonly digest: string; readonly now: Date };

/** Makes a wallet a member by the token of an invite, once. Throws 404, 409 or 410, and then changes nothing. */
export async function acceptInvite(sql: Sql, { digest, now, wallet }: Acceptance) {
  const named = await findInviteByDigest(sql, digest);
  if (named === undefined) throw teamErrors.inviteUnknown();
  const { accountId } = named;
  return sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    // Read again behind the lock, behind which the invite may have been accepted, deleted or sent again.
    const invite = await findInviteByDigest(tx, digest);
    if (invite === undefined) throw teamErrors.inviteUnknown();
    requireOpen(invite, now);
    if ((await findRole(tx, accountId, wallet)) !== undefined)
      throw teamErrors.alreadyMember(wallet);
    await requireSeat(tx, accountId);
    const { email, invitedBy, role } = invite;
    const isEnded = await endInvite(tx, { accountId, id: invite.id, now }, 'accepted');
    // A deletion takes no lock of the account, so it may have come first.
    if (!isEnded) throw teamErrors.inviteGone('was deleted');
    await insertMember(tx, { accountId, wallet, role, email, invitedBy });
    const accountWallet = await ownerWalletOf(tx, accountId);
    return { ok: true, accountWallet, accountId, role } as const;
  });
}

function requireOpen({ endedAs, expiresAt }: Invite, now: Date): void {
  if (endedAs === 'accepted') throw teamErrors.inviteGone('was accepted before');
  if (endedAs === 'deleted') throw teamErrors.inviteGone('was deleted');
  if (endedAs === 'expired' || expiresAt <= now) throw teamErrors.inviteGone('has expired');
}

/** Throws when the members alone take all seats. The invite that is accepted has a seat already. */
async function requireSeat(tx: Queryable, accountId: string): Promise<void> {
  const { seats } = ACCOUNT_LIMITS.team;
  if (1 + (await countMembers(tx, accountId)) >= seats) throw teamErrors.seatsFull(seats);
}
