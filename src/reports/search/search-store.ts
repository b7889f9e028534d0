import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Form, Lookup } from './forms.ts';

export type Hit = {
  readonly kind: string;
  readonly id: string;
  /** Agent that it belongs to. Null for objects of the account. */
  readonly agentId: number | null;
};

type Sought = {
  readonly accountId: string;
  readonly lookups: readonly Lookup[];
  /** Most hits of one kind. */
  readonly each: number;
};

/** Runs all look-ups in one statement. Each reads by an index and finds rows of the account alone. */
export async function findHits(
  sql: Queryable,
  { accountId, each, lookups }: Sought,
): Promise<readonly Hit[]> {
  if (lookups.length === 0) return [];
  const parts = lookups.flatMap((lookup) =>
    QUERIES[lookup.form]({ sql, accountId, text: lookup.text }).map(
      (query) => sql`(${query} limit ${each})`,
    ),
  );
  return sql<Hit[]>`${parts.reduce((all, part) => sql`${all} union all ${part}`)}`;
}

type LookupOf = {
  readonly sql: Queryable;
  readonly accountId: string;
  readonly text: string;
};

/** Returns the condition that a column names an agent of the account. */
const own = ({ accountId, sql }: LookupOf, column: string) => sql`exists (
  select from agents own where own.id = ${sql(column)} and own.account_id = ${accountId})`;

/** Returns the agents of the account as rows of `own`. */
const ofAgents = ({ accountId, sql }: LookupOf) =>
  sql`unnest(array(select id from agents where account_id = ${accountId})) as own(id)`;

type Fragment = ReturnType<typeof own>;

/** Queries of each form. All have the columns kind, id and agentId. */
const QUERIES: Readonly<Record<Form, (sought: LookupOf) => readonly Fragment[]>> = {
  rowId: (sought) => [...managementRows(sought), ...spendRows(sought)],

  hash(sought) {
    const { sql, text } = sought;
    return [
      sql`select 'payment' as kind, r.nonce::text as id, r.agent_id as "agentId" from reservations r
        where (r.nonce = ${text} or r.tx_hash = ${text}) and ${own(sought, 'r.agent_id')}`,
      sql`select 'payout', p.nonce::text, p.agent_id from ${ofAgents(sought)}
        join payouts p on p.agent_id = own.id where (p.nonce = ${text} or p.tx_hash = ${text})`,
      // ';' is the character after ':', so that the range holds the deposits of this transaction.
      sql`select 'deposit', p.id::text, p.agent_id from postings p
        where p.id >= ${`credit:deposit:${text}:`} and p.id < ${`credit:deposit:${text};`}
          and ${own(sought, 'p.agent_id')}`,
    ];
  },

  wallet: ({ accountId, sql, text }) => [
    sql`select 'agent' as kind, id::text, id as "agentId" from agents
      where wallet_address = ${text} and account_id = ${accountId}`,
    sql`select 'account', account_id, null::int from developers
      where wallet = ${text} and account_id = ${accountId}`,
  ],

  agentKeyPrefix: (sought) => [
    sought.sql`select 'agent_key' as kind, k.id::text, k.agent_id as "agentId"
      from ${ofAgents(sought)} join agent_keys k on k.agent_id = own.id
      where k.revoked_at is null and k.prefix = ${sought.text}`,
  ],

  developerKeyPrefix: ({ accountId, sql, text }) => [
    sql`select 'developer_key' as kind, id::text, null::int as "agentId" from developer_keys
      where account_id = ${accountId} and revoked_at is null and prefix = ${text}`,
  ],

  delivery: ({ accountId, sql, text }) => [
    sql`select 'webhook_delivery' as kind, delivery_id::text as id, null::int as "agentId"
      from webhook_deliveries where delivery_id = ${text} and account_id = ${accountId}`,
  ],

  phoneNumber: ({ accountId, sql, text }) => [
    sql`select 'phone_number' as kind, id::text, agent_id as "agentId" from phone_numbers
      where account_id = ${accountId} and phone_number = ${text}`,
    sql`select 'do_not_call', phone_number, null::int from do_not_call
      where account_id = ${accountId} and phone_number = ${text}`,
  ],

  account: ({ accountId, sql, text }) => [
    sql`select 'account' as kind, account_id as id, null::int as "agentId" from developers
      where account_id = ${text} and account_id = ${accountId}`,
  ],

  id(sought) {
    const { accountId, sql, text } = sought;
    return [
      sql`select 'call' as kind, c.id::text, c.agent_id as "agentId" from calls c
        where c.id = ${text} and c.account_id = ${accountId}`,
      sql`select 'call_batch', b.id::text, b.agent_id from call_batches b
        where b.id = ${text} and b.account_id = ${accountId}`,
      sql`select 'session', s.id::text, s.agent_id from sessions s
        where s.id = ${text} and ${own(sought, 's.agent_id')}`,
      sql`select 'response', r.id::text, r.agent_id from model_responses r
        where r.id = ${text} and ${own(sought, 'r.agent_id')}`,
    ];
  },

  correlation: ({ accountId, sql, text }) => [
    sql`select 'webhook_delivery' as kind, delivery_id::text as id, null::int as "agentId"
      from webhook_deliveries
      where account_id = ${accountId} and correlation_id is not null and correlation_id = ${text}`,
  ],

  tag: (sought) => [
    sought.sql`select 'action' as kind, t.action_id as id, t.agent_id as "agentId"
      from ${ofAgents(sought)} join action_totals t on t.agent_id = own.id
      where t.action_id = ${sought.text}`,
    sought.sql`select 'action_outcome', o.action_id, o.agent_id
      from ${ofAgents(sought)} join action_outcomes o on o.agent_id = own.id
      where o.action_id = ${sought.text}`,
    ...['task', 'customer'].map(
      (dimension) => sought.sql`select distinct ${dimension}, t.key::text, t.agent_id
        from ${ofAgents(sought)} join report_totals t on t.agent_id = own.id
        where t.dimension = ${dimension} and t.key = ${sought.text}`,
    ),
  ],

  name: ({ accountId, sql, text }) => [
    sql`select 'agent' as kind, id::text, id as "agentId" from agents
      where account_id = ${accountId} and name = ${text}`,
  ],
};

function managementRows(sought: LookupOf): readonly Fragment[] {
  const { accountId, sql, text } = sought;
  const id = sql`${text}::bigint`;
  return [
    sql`select 'agent' as kind, id::text, id as "agentId" from agents
      where id = ${id} and account_id = ${accountId}`,
    sql`select 'agent_key', k.id::text, k.agent_id from agent_keys k
      where k.id = ${id} and ${own(sought, 'k.agent_id')}`,
    sql`select 'developer_key', id::text, null::int from developer_keys
      where id = ${id} and account_id = ${accountId}`,
    sql`select 'policy', id::text, agent_id from policies
      where id = ${id} and account_id = ${accountId}`,
    sql`select 'webhook', id::text, null::int from webhooks
      where id = ${id} and account_id = ${accountId}`,
    sql`select 'phone_number', id::text, agent_id from phone_numbers
      where id = ${id} and account_id = ${accountId}`,
  ];
}

function spendRows(sought: LookupOf): readonly Fragment[] {
  const { sql, text } = sought;
  const id = sql`${text}::bigint`;
  return [
    sql`select 'charge' as kind, c.id::text, c.agent_id as "agentId" from ${ofAgents(sought)}
      join charges c on c.agent_id = own.id where c.id = ${id}`,
    sql`select 'payment', r.nonce::text, r.agent_id from ${ofAgents(sought)}
      join reservations r on r.agent_id = own.id where r.id = ${id}`,
    sql`select 'proxy_call', p.id::text, p.agent_id from proxy_passthroughs p
      where p.id = ${id} and ${own(sought, 'p.agent_id')}`,
  ];
}
