import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import { lockAccount } from './developer-store.ts';
import type { Session } from './session.ts';

/** Returns the account of a session. Undefined when the session was ended, alone or with all others. */
export async function findSessionAccount(
  sql: Sql,
  { wallet, id, generation }: Session,
): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`
    select d.account_id from developers d
    where d.wallet = ${wallet} and d.session_generation = ${generation}
      and not exists (
        select 1 from ended_sessions e where e.account_id = d.account_id and e.id = ${id})
  `;
  return row?.account_id;
}

/**
 * Ends one session. Its id is stored until its newest token has expired; when an account would have more than
 * `ACCOUNT_LIMITS.session.endedKept` stored ids, all its sessions end instead.
 */
export async function endSession(
  sql: Sql,
  session: { readonly accountId: string; readonly id: string; readonly now: Date },
): Promise<void> {
  const { accountId, id, now } = session;
  const until = new Date(now.getTime() + ACCOUNT_LIMITS.session.tokenSeconds * 1_000);
  await sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    await tx`delete from ended_sessions where account_id = ${accountId} and expires_at <= ${now}`;
    await tx`
      insert into ended_sessions (account_id, id, expires_at) values (${accountId}, ${id}, ${until})
      on conflict do nothing`;
    const kept = await tx`
      select 1 from ended_sessions where account_id = ${accountId}
      limit ${ACCOUNT_LIMITS.session.endedKept + 1}`;
    if (kept.length > ACCOUNT_LIMITS.session.endedKept) await raiseGeneration(tx, accountId);
  });
}

/** Ends every session of an account. */
export async function endAllSessions(sql: Sql, accountId: string): Promise<void> {
  await sql.begin((tx) => raiseGeneration(tx, accountId));
}

async function raiseGeneration(tx: Queryable, accountId: string): Promise<void> {
  await tx`
    update developers set session_generation = session_generation + 1
    where account_id = ${accountId}`;
  await tx`delete from ended_sessions where account_id = ${accountId}`;
}
