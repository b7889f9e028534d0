import type { Clock } from '../../../kernel/clock.ts';
import type { Queryable, Sql } from '../../../platform/postgres/sql.ts';
import { ownerWalletOf } from '../../developers/owner-wallet.ts';
import { requireRole } from '../../developers/require-role.ts';
import { hasRight, type Right, type Role } from '../../developers/role.ts';
import { findRole } from '../../developers/role-store.ts';
import { teamErrors } from '../../errors.ts';
import type { Invalidation } from '../../keys/invalidation.ts';
import type { Invalidations } from '../../keys/invalidations.ts';
import type { KeyOwner } from '../../keys/key.ts';
import { endInvitesBy } from './invite-store.ts';
import { deleteMember, findMembers, saveRole } from './member-store.ts';
import { NONE_REVOKED, revokeAgentKeys, revokeAllKeys } from './revoke-keys.ts';

/** Member who asks, with the account that the member acts for. */
export type Member = KeyOwner & { readonly role: Role };

/** Result of a change, with the notices of the keys that it revoked. */
type Changed<T> = { readonly done: T; readonly notices: readonly Invalidation[] };

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

  /** Throws when the caller may not change this member. Returns the caller's role. */
  async function requireChange(tx: Queryable, caller: Member, wallet: string, right: Right) {
    const callerRole = await requireRole(tx, caller, right);
    await requireMutable(tx, { callerRole, accountId: caller.accountId, wallet });
    return callerRole;
  }

  /** Runs a change of a member. Checked before its locks too, so that a refused request delays no payment of the agents. */
  async function change<T>(
    caller: Member,
    wallet: string,
    right: Right,
    work: (tx: Queryable, callerRole: Role) => Promise<Changed<T>>,
  ): Promise<T> {
    await requireChange(sql, caller, wallet, right);
    return invalidations.commitMember(caller.accountId, async (tx) =>
      work(tx, await requireChange(tx, caller, wallet, right)),
    );
  }

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
      change(caller, wallet, 'team', async (tx, callerRole) => {
        if (role === 'owner' && callerRole !== 'owner') throw teamErrors.ownersOnly();
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
      change(caller, wallet, wallet === caller.wallet ? 'leave' : 'team', async (tx) => {
        const target = { accountId: caller.accountId, wallet };
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
  { accountId, callerRole, wallet }: { accountId: string; callerRole: Role; wallet: string },
): Promise<void> {
  const role = await findRole(tx, accountId, wallet);
  if (role === undefined) throw teamErrors.memberNotFound(wallet);
  if (role === 'owner' && callerRole !== 'owner') throw teamErrors.ownersOnly();
  if (wallet === (await ownerWalletOf(tx, accountId))) throw teamErrors.lastOwner();
}
