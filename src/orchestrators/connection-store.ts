import type { Queryable } from '../platform/postgres/sql.ts';
import type { Connection, InboundConnection } from './connection.ts';
import { ORCHESTRATOR_LIMITS } from './limits.ts';
import type { Provider } from './platform.ts';

type Row = {
  id: number;
  account_id: string;
  agent_id: number;
  provider: Provider;
  wallet_address: string | null;
  label: string | null;
  active: boolean;
  token_salt: Buffer;
  last_event_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

/** Columns that may be shown. The sealed secret and the hash of the token are not among them. */
const shown = (sql: Queryable) => sql`c.id, c.account_id, c.agent_id, c.provider, c.label, c.active,
  c.token_salt, c.last_event_at, c.created_at, c.updated_at,
  (select a.wallet_address from agents a where a.id = c.agent_id) as wallet_address`;

const toConnection = (row: Row): Connection => ({
  id: row.id,
  accountId: row.account_id,
  agentId: row.agent_id,
  provider: row.provider,
  agentWallet: row.wallet_address,
  label: row.label,
  active: row.active,
  tokenSalt: row.token_salt,
  lastEventAt: row.last_event_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

type Place = Pick<Connection, 'accountId' | 'id'>;

/** Token and secret of a connection in the form in which they are stored. */
export type StoredSecrets = {
  readonly tokenSalt: Uint8Array;
  readonly tokenHash: Uint8Array;
  /** Undefined: the present secret stays. */
  readonly sealedSecret: Uint8Array | undefined;
};

export type NewConnection = Pick<Connection, 'accountId' | 'agentId' | 'provider' | 'label'> &
  StoredSecrets & { readonly sealedSecret: Uint8Array };

/** Inserts a connection. `taken`: the agent has one to this platform; `full`: the account has its limit. */
export async function insertConnection(
  tx: Queryable,
  fresh: NewConnection,
): Promise<Connection | 'taken' | 'full'> {
  await tx`select 1 from developers where account_id = ${fresh.accountId} for no key update`;
  const [{ count, taken } = { count: 0, taken: false }] = await tx<
    { count: number; taken: boolean | null }[]
  >`
    select count(*)::integer as count,
      bool_or(agent_id = ${fresh.agentId} and provider = ${fresh.provider}) as taken
    from orchestrator_connections where account_id = ${fresh.accountId}`;
  if (taken === true) return 'taken';
  if (count >= ORCHESTRATOR_LIMITS.connection.perAccount) return 'full';
  const rows = await tx<Row[]>`
    insert into orchestrator_connections as c
      (account_id, agent_id, provider, label, token_hash, token_salt, sealed_secret)
    values (${fresh.accountId}, ${fresh.agentId}, ${fresh.provider}, ${fresh.label},
      ${Buffer.from(fresh.tokenHash)}, ${Buffer.from(fresh.tokenSalt)}, ${Buffer.from(fresh.sealedSecret)})
    returning ${shown(tx)}`;
  return toConnection(rows[0] as Row);
}

/** Returns all connections of an account by id. Their number is bounded as they are made. */
export async function findConnections(sql: Queryable, accountId: string): Promise<Connection[]> {
  const rows = await sql<Row[]>`
    select ${shown(sql)} from orchestrator_connections c where c.account_id = ${accountId} order by c.id`;
  return rows.map(toConnection);
}

/** Returns a connection of the account, locked until the sql transaction ends. Undefined when there is none. */
export async function lockConnection(
  tx: Queryable,
  { accountId, id }: Place,
): Promise<Connection | undefined> {
  const [row] = await tx<Row[]>`
    select ${shown(tx)} from orchestrator_connections c
    where c.id = ${id} and c.account_id = ${accountId} for no key update`;
  return row && toConnection(row);
}

/** Replaces the token, and the secret when one is given. The old ones are unknown from the commit on. */
export async function replaceSecrets(
  tx: Queryable,
  id: number,
  { sealedSecret, tokenHash, tokenSalt }: StoredSecrets,
): Promise<Connection> {
  const [row] = await tx<Row[]>`
    update orchestrator_connections c
    set token_hash = ${Buffer.from(tokenHash)}, token_salt = ${Buffer.from(tokenSalt)},
      sealed_secret = ${sealedSecret === undefined ? tx`c.sealed_secret` : Buffer.from(sealedSecret)},
      updated_at = now()
    where c.id = ${id} returning ${shown(tx)}`;
  return toConnection(row as Row);
}

/** Switches a connection on or off. Returns false when the account has no such connection. */
export async function setActive(
  sql: Queryable,
  { accountId, id }: Place,
  active: boolean,
): Promise<boolean> {
  const rows = await sql`
    update orchestrator_connections set active = ${active}, updated_at = now()
    where id = ${id} and account_id = ${accountId} returning id`;
  return rows.length > 0;
}

export async function deleteConnection(sql: Queryable, { accountId, id }: Place): Promise<boolean> {
  const rows = await sql`
    delete from orchestrator_connections where id = ${id} and account_id = ${accountId} returning id`;
  return rows.length > 0;
}

type InboundRow = Pick<Row, 'id' | 'account_id' | 'agent_id' | 'provider' | 'wallet_address'> & {
  hash: string;
  status: InboundConnection['agentStatus'];
  sealed_secret: Buffer;
};

/** Returns the connections that are on, by the hashes of their tokens in hex. Hashes of no connection are absent. */
export async function findInbound(
  sql: Queryable,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, InboundConnection>> {
  const rows = await sql<InboundRow[]>`
    select encode(c.token_hash, 'hex') as hash, c.id, c.account_id, c.agent_id, c.provider,
      c.sealed_secret, a.wallet_address, a.status
    from unnest(${hashes as string[]}::text[]) as asked(hash)
      join orchestrator_connections c on c.token_hash = decode(asked.hash, 'hex')
      join agents a on a.id = c.agent_id
    where c.active`;
  return new Map(
    rows.map((row) => [
      row.hash,
      {
        id: row.id,
        accountId: row.account_id,
        agentId: row.agent_id,
        provider: row.provider,
        agentWallet: row.wallet_address,
        agentStatus: row.status,
        sealedSecret: row.sealed_secret,
      },
    ]),
  );
}

/** Notes that a platform has sent something now. A note of the last seconds stays as it is. */
export async function noteEvent(sql: Queryable, id: number): Promise<void> {
  await sql`
    update orchestrator_connections set last_event_at = now()
    where id = ${id} and coalesce(last_event_at, '-infinity')
      < now() - ${ORCHESTRATOR_LIMITS.inbound.noteMs} * interval '1 millisecond'`;
}
