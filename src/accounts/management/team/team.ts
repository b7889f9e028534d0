import type { Clock } from '../../../kernel/clock.ts';
import type { Queryable, Sql } from '../../../platform/postgres/sql.ts';
import { ownerWalletOf } from '../../developers/owner-wallet.ts';
import { requireRole } from '../../developers/require-role.ts';
import { hasRight, type Role } from '../../developers/role.ts';
import { findRole } from '../../developers/role-store.ts';
import { teamErrors } from '../../errors.ts';
import type { Invalidations } from '../../keys/invalidations.ts';
import type { KeyOwner } from '../../keys/key.ts';
import { endInvitesBy } from './invite-store.ts';
import { deleteMember, findMembers, saveRole } from './member-store.ts';
import { NONE_REVOKED, revokeAgentKeys, revokeAllKeys } from './revoke-keys.ts';

/** Member who asks, with the account that the member acts for. */
export type Member = KeyOwner & { readonly role: Role };

export type Team = ReturnType<typeof createTeam>;

/**
 * Creates the reads and changes of an account's members. The wallet that an account belongs to stays its owner: the account pays
 * to it, and its signature opens the account.
 */
export function createTeam(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly invalidations: Invalidations;
  /** Returns the database's time in Unix milliseconds. */
  readonly now: () => number;
}) {
  const { sql, clock, invalidations } = deps;
  const now = () => new Date(clock.now());

  return {
    async list({ accountId, role, wallet }: Member) {
      const found = await findMembers(sql, accountId);
      return {
        members: found.map((member) => ({
          memberWallet: member.wallet,
          role: member.role,
          displayName: member.displayName,
          email: member.email,
          invitedBy: member.invitedBy,
          createdAt: member.createdAt.toISOString(),
          isSelf: member.wallet === wallet,
        })),
        role,
      };
    },

    /**
     * Gives a member another role. A member who may no longer work loses the agent keys that the member issued, and one who may
     * no longer invite loses the open invites.
     */
    setRole: (caller: Member, wallet: string, role: Role) =>
      invalidations.commitMember(caller.accountId, async (tx) => {
        const asking = await requireRole(tx, caller, 'team');
        await requireMutable(tx, { asking, accountId: caller.accountId, wallet });
        if (role === 'owner' && asking !== 'owner') throw teamErrors.ownersOnly();
        const target = { accountId: caller.accountId, wallet };
        await saveRole(tx, { ...target, role });
        const revoked = hasRight(role, 'work')
          ? NONE_REVOKED
          : await revokeAgentKeys(tx, { ...target, nowMs: deps.now() });
        if (!hasRight(role, 'team')) await endInvitesBy(tx, target, now());
        const done = { ok: true, memberWallet: wallet, role, revokedKeys: revoked.count } as const;
        return { done, notices: revoked.notices };
      }),

    /** Ends a membership with its keys and open invites. Any member may end the own one. */
    remove: (caller: Member, wallet: string) =>
      invalidations.commitMember(caller.accountId, async (tx) => {
        const asking = await requireRole(tx, caller, wallet === caller.wallet ? 'leave' : 'team');
        const target = { accountId: caller.accountId, wallet };
        await requireMutable(tx, { ...target, asking });
        await deleteMember(tx, target);
        await endInvitesBy(tx, target, now());
        const { count, notices } = await revokeAllKeys(tx, { ...target, nowMs: deps.now() });
        return { done: { ok: true, memberWallet: wallet, revokedKeys: count } as const, notices };
      }),
  };
}

/** Throws when a wallet is no member, owns the account, or is an owner whom only owners may change. */
async function requireMutable(
  tx: Queryable,
  { accountId, asking, wallet }: { accountId: string; asking: Role; wallet: string },
): Promise<void> {
  const role = await findRole(tx, accountId, wallet);
  if (role === undefined) throw teamErrors.memberNotFound(wallet);
  if (role === 'owner' && asking !== 'owner') throw teamErrors.ownersOnly();
  if (wallet === (await ownerWalletOf(tx, accountId))) throw teamErrors.lastOwner();
}
