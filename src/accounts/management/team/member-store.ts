import type { Queryable } from '../../../platform/postgres/sql.ts';
import type { Role } from '../../developers/role.ts';

/** Member as it is listed. */
export type ListedMember = {
  readonly wallet: string;
  readonly role: Role;
  readonly displayName: string | null;
  readonly email: string | null;
  readonly invitedBy: string | null;
  readonly createdAt: Date;
};

/** Returns the members of an account: its own wallet, then the others in the order in which they joined. */
export async function findMembers(sql: Queryable, accountId: string): Promise<ListedMember[]> {
  return sql<ListedMember[]>`
    select wallet, role, "displayName", email, "invitedBy", "createdAt" from (
      select 0 as place, d.wallet, 'owner' as role, d.display_name as "displayName", d.email,
        null as "invitedBy", d.created_at as "createdAt"
      from developers d where d.account_id = ${accountId}
      union all
      select 1, m.wallet, m.role, own.display_name, m.email, m.invited_by, m.created_at
      from members m left join developers own on own.wallet = m.wallet
      where m.account_id = ${accountId}
    ) as listed order by place, "createdAt", wallet
  `;
}

export async function insertMember(
  tx: Queryable,
  member: {
    readonly accountId: string;
    readonly wallet: string;
    readonly role: Role;
    readonly email: string;
    readonly invitedBy: string;
  },
): Promise<void> {
  await tx`
    insert into members (account_id, wallet, role, email, invited_by)
    values (${member.accountId}, ${member.wallet}, ${member.role}, ${member.email},
      ${member.invitedBy})
  `;
}

export async function saveRole(
  tx: Queryable,
  member: { readonly accountId: string; readonly wallet: string; readonly role: Role },
): Promise<void> {
  await tx`
    update members set role = ${member.role}
    where account_id = ${member.accountId} and wallet = ${member.wallet}`;
}

export async function deleteMember(
  tx: Queryable,
  { accountId, wallet }: { readonly accountId: string; readonly wallet: string },
): Promise<void> {
  await tx`delete from members where account_id = ${accountId} and wallet = ${wallet}`;
}

/** Member whose keys are revoked. */
type Issuer = { readonly accountId: string; readonly wallet: string; readonly now: Date };

/** Agent key that was revoked. */
export type RevokedAgentKey = {
  readonly keyId: number;
  readonly agentId: number;
  /** Id of the first key in the chain of rotations. */
  readonly rootId: number;
  readonly isClosed: boolean;
};

/** Revokes the agent keys that a member issued. Rows are locked in the order of their ids, as by all who lock several. */
export async function revokeAgentKeysOf(
  tx: Queryable,
  { accountId, wallet, now }: Issuer,
): Promise<readonly RevokedAgentKey[]> {
  return tx<RevokedAgentKey[]>`
    with issued as materialized (
      select k.id, a.status = 'closed' as closed
      from agents a join agent_keys k on k.agent_id = a.id
      where a.account_id = ${accountId} and k.created_by = ${wallet} and k.revoked_at is null
      order by k.id for no key update of k
    )
    update agent_keys as k set revoked_at = ${now} from issued where k.id = issued.id
    returning k.id as "keyId", k.agent_id as "agentId", coalesce(k.root_id, k.id) as "rootId",
      issued.closed as "isClosed"
  `;
}

/** Revokes the developer keys that a member issued. Returns their ids. */
export async function revokeDeveloperKeysOf(
  tx: Queryable,
  { accountId, wallet, now }: Issuer,
): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    with issued as materialized (
      select id from developer_keys
      where account_id = ${accountId} and created_by = ${wallet} and revoked_at is null
      order by id for no key update
    )
    update developer_keys as k set revoked_at = ${now} from issued where k.id = issued.id
    returning k.id
  `;
  return rows.map(({ id }) => id);
}
