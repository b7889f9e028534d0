import type { Queryable } from '../../platform/postgres/sql.ts';
import type { AgentBatch, Change, HoldChange } from '../rules/change.ts';
import type { Node } from '../rules/node.ts';
import type { Posting } from '../rules/posting.ts';
import { encodeCounters } from './counter-codec.ts';
import { accountArray, amountArray } from './encode-batch.ts';
import { isSingleCompanion, writeSingleCompanion } from './single-companions.ts';
import {
  bigint,
  type Cell,
  integer,
  type SharedCells,
  SingleStatement,
  text,
} from './single-statement.ts';

/**
 * Carries out one operation of one agent in one statement, at half the cost of a batch, and resolves to true when it did.
 * Its id, hold and guard are checked in the same statement: any change of them raises the agent's version in the same commit,
 * so the checks are true if the version is. False means that nothing was written, or that the operation needs `apply_batch`,
 * which then decides.
 */
export async function applySingle(
  sql: Queryable,
  node: Node,
  parts: readonly AgentBatch[],
): Promise<boolean> {
  const [part] = parts;
  const [change] = part?.changes ?? [];
  if (part === undefined || change === undefined) return false;
  if (parts.length > 1 || part.changes.length > 1 || change.probe) return false;
  const { posting, hold, guard, count, companions } = change;
  if ((count !== null && count.team.length > 0) || guard?.row === 'session') return false;
  if (hold !== null && hold.fromRaw !== null && hold.toRaw !== null) return false;
  if (!companions.every(isSingleCompanion)) return false;
  // Two charges may add to the same totals, which one statement cannot do twice.
  if (companions.filter(({ row }) => row === 'charge').length > 1) return false;

  const statement = new SingleStatement();
  const shared = sharedCells(part.agentId, change);
  moveAgent(statement, part, change, shared);
  if (posting !== null) post(statement, posting, shared);
  if (hold !== null) changeHold(statement, hold, node, shared);
  for (const companion of companions) writeSingleCompanion(statement, shared, companion);
  statement.add` select 1 from agent`;
  return await statement.run(sql);
}

const sharedCells = (agentId: number, { hold, posting }: Change): SharedCells => ({
  agent: integer(agentId),
  posting: text(posting?.id ?? ''),
  hold: text(hold?.holdId ?? null),
  amount: bigint(hold?.fromRaw ?? hold?.toRaw ?? null),
});

/** Updates the agent's row when its version is unchanged. Every later clause of the statement depends on that update. */
function moveAgent(
  statement: SingleStatement,
  { before, after, counted }: AgentBatch,
  { posting, hold, guard }: Change,
  shared: SharedCells,
): void {
  const by = (name: 'spendableRaw' | 'creditedRaw' | 'consumedRaw' | 'walletRaw' | 'promisedRaw') =>
    bigint(after[name] - before[name]);
  statement.add`with agent as (update agent_funds f set version = f.version + 1`;
  if (after.spendableRaw !== before.spendableRaw)
    statement.add`, spendable_raw = f.spendable_raw + ${by('spendableRaw')}`;
  moveHeld(statement, after.heldRaw - before.heldRaw, hold, shared);
  if (after.creditedRaw !== before.creditedRaw)
    statement.add`, credited_raw = f.credited_raw + ${by('creditedRaw')}`;
  if (after.consumedRaw !== before.consumedRaw)
    statement.add`, consumed_raw = f.consumed_raw + ${by('consumedRaw')}`;
  if (after.walletRaw !== before.walletRaw)
    statement.add`, wallet_raw = f.wallet_raw + ${by('walletRaw')}`;
  if (after.promisedRaw !== before.promisedRaw)
    statement.add`, promised_raw = f.promised_raw + ${by('promisedRaw')}`;
  if (counted) statement.add`, counters = ${text(encodeCounters(after.counters))}`;
  statement.add` where f.agent_id = ${shared.agent} and f.version = ${bigint(before.version)}`;
  if (posting !== null)
    statement.add` and not exists (select from postings p where p.id = ${shared.posting})`;
  // The hold is found by its key alone; otherwise all rows of the agent would be read.
  if (hold !== null && hold.fromRaw !== null) {
    statement.add` and (select d.agent_id = ${shared.agent} and d.amount_raw = ${shared.amount}
      from holds d where d.id = ${shared.hold})`;
  }
  if (guard?.row === 'reservation') {
    statement.add` and (select r.agent_id = ${shared.agent} and r.state = ${text(guard.state)}
      from reservations r where r.nonce = ${text(guard.id)})`;
  }
  statement.add` returning f.agent_id)`;
}

function moveHeld(
  statement: SingleStatement,
  byRaw: bigint,
  hold: HoldChange | null,
  { amount }: SharedCells,
): void {
  if (byRaw === 0n) return;
  if (byRaw === hold?.toRaw) statement.add`, held_raw = f.held_raw + ${amount}`;
  else if (-byRaw === hold?.fromRaw) statement.add`, held_raw = f.held_raw - ${amount}`;
  else statement.add`, held_raw = f.held_raw + ${bigint(byRaw)}`;
}

function post(
  statement: SingleStatement,
  { askedRaw, code, entries }: Posting,
  { agent, posting }: SharedCells,
): void {
  const debits: Cell = ['text[]', accountArray(entries, 'debit')];
  const credits: Cell = ['text[]', accountArray(entries, 'credit')];
  const amounts: Cell = ['bigint[]', amountArray(entries)];
  statement.clause`
    insert into postings (id, agent_id, code, asked_raw, debits, credits, amounts)
    select ${posting}, ${agent}, ${text(code)}, ${bigint(askedRaw)}, ${debits}, ${credits}, ${amounts}
    from agent`;
}

function changeHold(
  statement: SingleStatement,
  { fromRaw, sessionId, facts }: HoldChange,
  { nodeId, leaseEpoch }: Node,
  { agent, amount, hold }: SharedCells,
): void {
  if (fromRaw !== null) {
    statement.clause`delete from holds d using agent a where d.id = ${hold}`;
    return;
  }
  const kind = text(sessionId === null ? 'request' : 'session');
  const { host, keyRootId, payee, taskId } = facts;
  statement.clause`
    insert into holds (id, agent_id, amount_raw, kind, session_id, node_id, lease_epoch,
      key_root_id, task_id, host, payee)
    select ${hold}, ${agent}, ${amount}, ${kind}, ${text(sessionId)}, ${text(nodeId)},
      ${integer(leaseEpoch)}, ${integer(keyRootId)}, ${text(taskId)}, ${text(host)}, ${text(payee)}
    from agent`;
}
