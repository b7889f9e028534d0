import type { Clock } from '../../../kernel/clock.ts';
import { newInviteToken } from '../../../kernel/ids.ts';
import type { Random } from '../../../kernel/random.ts';
import type { Queryable, Sql } from '../../../platform/postgres/sql.ts';
import { lockAccount } from '../../developers/developer-store.ts';
import { requireRole } from '../../developers/require-role.ts';
import { teamErrors } from '../../errors.ts';
import type { KeyOwner } from '../../keys/key.ts';
import { keyedHash } from '../../keys/keyed-hash.ts';
import { ACCOUNT_LIMITS } from '../../limits.ts';
import { acceptInvite } from './accept-invite.ts';
import { type Delivering, deliverInvite } from './deliver-invite.ts';
import { type Invite, type InvitedRole, inviteRecord } from './invite.ts';
import {
  countMembers,
  countSends,
  endInvite,
  findInvites,
  findMemberEmails,
  insertInvite,
  renewInvite,
  tidyInvites,
} from './invite-store.ts';

const LIMITS = ACCOUNT_LIMITS.team;
const DAY_MS = 86_400_000;

type InviteDeps = Delivering & {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly hmacSecret: string;
};

type Wanted = { readonly email: string; readonly role: InvitedRole };

export type Invites = ReturnType<typeof createInvites>;

/**
 * Creates the invites of accounts. A token is stored as its keyed hash, works once within seven days, and is mailed after the
 * commit: an invite whose mail failed is sent again or deleted.
 */
export function createInvites(deps: InviteDeps) {
  const { sql } = deps;
  const now = () => new Date(deps.clock.now());
  const hash = (token: string) => keyedHash(deps.hmacSecret, token);

  /** Runs `work` with a new token behind the lock of the account, commits, and delivers the invite that `work` returns. */
  async function send(
    caller: KeyOwner,
    work: (tx: Queryable, at: Date, digest: string) => Promise<Invite | undefined>,
  ) {
    const token = newInviteToken(deps.random);
    const at = now();
    const invite = (await sql.begin(async (tx) => {
      await begin(tx, caller, at);
      return work(tx, at, hash(token));
    })) as Invite | undefined;
    if (invite === undefined) throw teamErrors.inviteNotFound();
    return deliverInvite(deps, invite, token);
  }

  return {
    async list(accountId: string) {
      const found = await findInvites(sql, accountId, now());
      return found.map((invite) => ({ ...inviteRecord(invite), invitedBy: invite.invitedBy }));
    },

    create: (caller: KeyOwner, wanted: Wanted) =>
      send(caller, async (tx, at, digest) => {
        const { accountId, wallet } = caller;
        await requireUnknownAddress(tx, caller, wanted.email);
        await requireSeat(tx, accountId, wanted.email, at);
        await requireSends(tx, { accountId, email: wanted.email, at });
        const made = { accountId, ...wanted, digest, invitedBy: wallet };
        return insertInvite(tx, { ...made, now: at, expiresAt: endOf(at) });
      }),

    /** Makes another token for an open invite and sends it. The token before opens nothing from then on. */
    resend: (caller: KeyOwner, id: number) =>
      send(caller, async (tx, at, digest) => {
        const { accountId, wallet: invitedBy } = caller;
        const open = (await findInvites(tx, accountId, at)).find((one) => one.id === id);
        if (open === undefined) return undefined;
        await requireSends(tx, { accountId, email: open.email, at });
        const renewed = { accountId, id, digest, invitedBy, now: at, expiresAt: endOf(at) };
        return renewInvite(tx, renewed);
      }),

    async remove(accountId: string, id: number): Promise<void> {
      const isEnded = await endInvite(sql, { accountId, id, now: now() }, 'deleted');
      if (!isEnded) throw teamErrors.inviteNotFound();
    },

    /** Makes the signed-in wallet a member of the account that the token's invite is for. */
    accept: (wallet: string, token: string) =>
      acceptInvite(sql, { wallet, digest: hash(token), now: now() }),
  };
}

const endOf = (at: Date): Date => new Date(at.getTime() + LIMITS.inviteMs);

/** Locks the account, and checks behind the lock that the caller may invite still. */
async function begin(tx: Queryable, caller: KeyOwner, at: Date): Promise<void> {
  await lockAccount(tx, caller.accountId);
  await requireRole(tx, caller, 'team');
  const endedBefore = new Date(at.getTime() - LIMITS.endedKeptMs);
  await tidyInvites(tx, caller.accountId, { now: at, endedBefore });
}

/** Throws when the address is known as that of the caller or of another member. */
async function requireUnknownAddress(
  tx: Queryable,
  { accountId, wallet }: KeyOwner,
  email: string,
): Promise<void> {
  const holders = (await findMemberEmails(tx, accountId)).filter((one) => one.email === email);
  if (holders.some((one) => one.wallet === wallet)) throw teamErrors.selfInvited();
  if (holders.length > 0) throw teamErrors.alreadyMember(email);
}

/** Throws when the address has an open invite, or all seats are taken. */
async function requireSeat(
  tx: Queryable,
  accountId: string,
  email: string,
  at: Date,
): Promise<void> {
  const open = await findInvites(tx, accountId, at);
  if (open.some((invite) => invite.email === email)) throw teamErrors.alreadyInvited();
  // The wallet that the account belongs to takes a seat, too.
  const taken = 1 + (await countMembers(tx, accountId)) + open.length;
  if (taken >= LIMITS.seats) throw teamErrors.seatsFull(LIMITS.seats);
}

/** Throws when the account, or all accounts for this address, made as many tokens as they may in a day. */
async function requireSends(
  tx: Queryable,
  {
    accountId,
    at,
    email,
  }: Omit<Wanted, 'role'> & { readonly accountId: string; readonly at: Date },
): Promise<void> {
  const since = new Date(at.getTime() - DAY_MS);
  const sends = await countSends(tx, { accountId, email, since });
  if (sends.account >= LIMITS.sendsPerDay.account) {
    throw teamErrors.tooManyInvites(LIMITS.sendsPerDay.account, 'from one account');
  }
  if (sends.address >= LIMITS.sendsPerDay.address) {
    throw teamErrors.tooManyInvites(LIMITS.sendsPerDay.address, 'to one address');
  }
}
