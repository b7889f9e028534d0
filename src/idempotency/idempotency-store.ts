import type { Node } from '../ledger/rules/node.ts';
import { paymentHoldId } from '../ledger/rules/payment.ts';
import type { Queryable, Sql } from '../platform/postgres/sql.ts';

/** A claim on a key, and the work that would run under the key. */
export type KeyClaim = {
  /** Owner of the key: `agent:<id>` or `account:<id>`. */
  readonly owner: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** Id of the work, the same when a claim is repeated, so that a repeated claim takes the key once. */
  readonly workId: string;
};

/** Owner, key and work that identify a stored key. */
export type KeyWork = Pick<KeyClaim, 'owner' | 'key' | 'workId'>;

/** A key that an earlier request has claimed. */
export type StandingKey = {
  readonly method: string;
  readonly path: string;
  readonly workId: string;
  readonly state: 'in_flight' | 'done';
  /** Stored answer. Null while the work is in flight, and when the answer was not kept. */
  readonly answer: Uint8Array | null;
  /** True while the process that has the work holds its lease. */
  readonly ownerLives: boolean;
  readonly isOver: boolean;
};

export type TakeVerdict =
  | { readonly kind: 'taken' }
  | { readonly kind: 'standing'; readonly standing: StandingKey }
  /** Another request took or freed the key at the same moment: take the key again. */
  | { readonly kind: 'raced' }
  /** The lease of this process has run out, so its claims would look orphaned. Nothing was taken. */
  | { readonly kind: 'lease_lost' };

/** Outcome of a lost process's work, by the ledger. */
export type WorkFate =
  /** The work had no hold, or its hold was released: nothing was charged, and nothing will be. */
  | { readonly kind: 'unpaid' }
  | { readonly kind: 'undecided' }
  | {
      readonly kind: 'charged';
      readonly chargedRaw: bigint;
      /** Reservation of the work's payment to a vendor; null when the charge paid no vendor on the chain. */
      readonly reservation: { readonly nonce: string; readonly validBefore: number } | null;
    };

/** Store of idempotency keys in the database. Uses the database's clock; each function is one statement. */
export interface IdempotencyKeys {
  /** Takes a key that is free: unknown, or finished and past its time. */
  take(claim: KeyClaim): Promise<TakeVerdict>;
  /**
   * Makes sure that work without a hold never gets a hold, by taking the work's hold ids in the ledger. A process that only
   * seemed dead then finds the ids taken.
   */
  forbid(workId: string, agentId: number): Promise<void>;
  fateOf(workId: string): Promise<WorkFate>;
  /** Takes a key over from work that is never finished. Returns true for one of several processes that try. */
  takeOver(claim: KeyClaim, fromWorkId: string): Promise<boolean>;
  /**
   * Ends the work and keeps its answer for at least `keepMs`; null for an answer that is not kept. False when the key belonged
   * to other work.
   */
  finish(work: KeyWork, answer: Uint8Array | null, keepMs: number): Promise<boolean>;
  /** Frees the key of work in flight. */
  free(work: KeyWork): Promise<void>;
}

type TakeRow = {
  taken: string | null;
  lease_holds: boolean;
  work_id: string | null;
  method: string;
  path: string;
  state: StandingKey['state'];
  answer: Uint8Array | null;
  owner_lives: boolean;
  is_over: boolean;
};

export function createIdempotencyKeys(deps: {
  readonly sql: Sql;
  readonly node: Node;
  readonly windowMs: number;
}): IdempotencyKeys {
  const { sql, node, windowMs } = deps;
  return {
    async take({ owner, key, method, path, workId }) {
      const [row] = await sql<TakeRow[]>`
        with lease as (
          select l.node_id, l.epoch from leases l
          where l.node_id = ${node.nodeId} and l.epoch = ${node.leaseEpoch}
            and l.expires_at > clock_timestamp()
        ), taken as (
          insert into idempotency_keys as k
            (owner, key, method, path, work_id, node_id, lease_epoch, state, expires_at)
          select ${owner}, ${key}, ${method}, ${path}, ${workId}, node_id, epoch, 'in_flight',
            clock_timestamp() + ${windowMs} * interval '1 millisecond'
          from lease
          on conflict (owner, key) do update
          set method = excluded.method, path = excluded.path, work_id = excluded.work_id,
            node_id = excluded.node_id, lease_epoch = excluded.lease_epoch, state = excluded.state,
            answer = null, created_at = excluded.created_at, expires_at = excluded.expires_at
          where k.work_id = excluded.work_id
            or (k.state = 'done' and k.expires_at <= clock_timestamp())
          returning k.work_id
        )
        select (select work_id from taken) as taken, exists (select from lease) as lease_holds,
          s.method, s.path, s.work_id, s.state, s.answer, s.owner_lives, s.is_over
        from (select 1) one left join (
          select k.method, k.path, k.work_id, k.state, k.answer,
            coalesce(l.expires_at >= clock_timestamp(), false) as owner_lives,
            k.expires_at <= clock_timestamp() as is_over
          from idempotency_keys k
          left join leases l on l.node_id = k.node_id and l.epoch = k.lease_epoch
          where k.owner = ${owner} and k.key = ${key}
        ) s on not exists (select from taken)`;
      return row === undefined ? { kind: 'raced' } : verdictOf(row);
    },
    async forbid(workId, agentId) {
      await sql`
        insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
        select 'hold:' || w.id, ${agentId}, 'hold.void', 0, '{}', '{}', '{}'
        from unnest(${holdsOf(workId)}::text[]) w(id)
        on conflict (id) do nothing`;
    },
    fateOf: (workId) => findFate(sql, workId),
    async takeOver({ owner, key, method, path, workId }, fromWorkId) {
      const rows = await sql`
        update idempotency_keys
        set method = ${method}, path = ${path}, work_id = ${workId}, node_id = ${node.nodeId},
          lease_epoch = ${node.leaseEpoch}, created_at = now(),
          expires_at = clock_timestamp() + ${windowMs} * interval '1 millisecond'
        where owner = ${owner} and key = ${key} and state = 'in_flight'
          and work_id in (${fromWorkId}, ${workId})
        returning 1 as one`;
      return rows.length === 1;
    },
    async finish({ owner, key, workId }, answer, keepMs) {
      const rows = await sql`
        update idempotency_keys
        set state = 'done', answer = ${answer},
          expires_at = greatest(expires_at, clock_timestamp() + ${keepMs} * interval '1 millisecond')
        where owner = ${owner} and key = ${key} and work_id = ${workId}
        returning 1 as one`;
      return rows.length === 1;
    },
    async free({ owner, key, workId }) {
      await sql`
        delete from idempotency_keys
        where owner = ${owner} and key = ${key} and work_id = ${workId} and state = 'in_flight'`;
    },
  };
}

function verdictOf(row: TakeRow): TakeVerdict {
  if (row.taken !== null) return { kind: 'taken' };
  if (row.work_id === null) return { kind: row.lease_holds ? 'raced' : 'lease_lost' };
  // The key was free and yet not taken: another process was faster, or this process has no lease.
  if (row.state === 'done' && row.is_over) {
    return { kind: row.lease_holds ? 'raced' : 'lease_lost' };
  }
  const { work_id: workId, owner_lives: ownerLives, is_over: isOver } = row;
  const { method, path, state, answer } = row;
  return {
    kind: 'standing',
    standing: { method, path, workId, state, answer, ownerLives, isOver },
  };
}

type FateRow = {
  is_open: boolean | null;
  was_paid: boolean | null;
  charged: bigint;
  nonce: string | null;
  valid_before: bigint | null;
};

/** Returns the ids of the holds of one piece of work: its own hold, and the hold of a payment that is made within the work. */
const holdsOf = (workId: string): string[] => [workId, paymentHoldId(workId)];

async function findFate(sql: Queryable, workId: string): Promise<WorkFate> {
  // A payment of zero takes nothing from its hold, and yet was made.
  const [row] = await sql<FateRow[]>`
    select bool_or(h.code = 'hold.open' and d.id is null) as is_open,
      bool_or(d.code = 'hold.settle' or r.state = 'settled') as was_paid,
      (select coalesce(sum(e.amount), 0)::bigint
       from postings p, unnest(p.debits, p.credits, p.amounts) as e(debit, credit, amount)
       where p.id = any(array_agg('resolve:' || w.id))
         and e.debit like 'agent:%' and e.credit not like 'agent:%') as charged,
      max(r.nonce) as nonce, max(r.valid_before) as valid_before
    from unnest(${holdsOf(workId)}::text[]) w(id)
    left join postings h on h.id = 'hold:' || w.id
    left join postings d on d.id = 'resolve:' || w.id
    left join reservations r on r.hold_id = w.id`;
  if (row?.is_open === true) return { kind: 'undecided' };
  if (row?.was_paid !== true) return { kind: 'unpaid' };
  const { nonce, valid_before: validBefore, charged: chargedRaw } = row;
  const reservation = nonce === null ? null : { nonce, validBefore: Number(validBefore) };
  return { kind: 'charged', chargedRaw, reservation };
}

/**
 * Removes at most `limit` keys that are over and done; with `ofTheDead` also keys of lost processes whose work is decided.
 * Returns the number of removed keys.
 */
export async function pruneKeys(sql: Sql, limit: number, ofTheDead: boolean): Promise<number> {
  const rows = await sql`
    delete from idempotency_keys d
    using (
      select k.owner, k.key from idempotency_keys k
      left join leases l on l.node_id = k.node_id and l.epoch = k.lease_epoch
      where k.expires_at <= clock_timestamp() and (k.state = 'done' or (${ofTheDead}
        and coalesce(l.expires_at < clock_timestamp(), true)
        and not exists (
          select from unnest(array['hold:' || k.work_id, 'hold:' || k.work_id || ${paymentHoldId('')}]) w(id)
          join postings p on p.id = w.id and p.code = 'hold.open'
          where not exists (select from postings d where d.id = 'resolve:' || substr(p.id, 6)))))
      order by k.expires_at
      limit ${limit}
      for update of k skip locked
    ) gone
    where d.owner = gone.owner and d.key = gone.key
    returning 1 as one`;
  return rows.length;
}
