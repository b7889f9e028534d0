import type { Queryable } from '../../platform/postgres/sql.ts';
import type { AgentBatch, BalanceState, Change, HoldChange } from '../rules/change.ts';
import type { Node } from '../rules/node.ts';
import type { Posting } from '../rules/posting.ts';
import { encodeCounters } from './counter-codec.ts';
import { accountArray, amountArray } from './encode-batch.ts';
import { isLoneCompanion, writeLoneCompanion } from './lone-companions.ts';
import { AloneStatement, bigint, type Cell, integer, text } from './lone-statement.ts';

/**
 * Carries one operation of one agent out as one statement, for half of what a batch costs, and says whether it stands.
 * What stands under its id, its hold and its guard are asked for with the update itself: whatever moves one of them
 * raises the agent's version in the same commit, so that what the statement saw of them is true if the version is. False:
 * nothing was written, or it is not for this way; `apply_batch` has the word.
 */
export async function applyAlone(
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
  if (!companions.every(isLoneCompanion)) return false;
  // Two charges may add to the same sums, which one statement cannot do twice.
  if (companions.filter(({ row }) => row === 'charge').length > 1) return false;

  const statement = new AloneStatement();
  moveAgent(statement, part, change);
  if (posting !== null) post(statement, part.agentId, posting);
  if (hold !== null) changeHold(statement, part.agentId, hold, node);
  for (const companion of companions)
    writeLoneCompanion(statement, part.agentId, posting?.id ?? '', companion);
  return await statement.run(sql);
}

const FUNDS = {
  spendable_raw: 'spendableRaw',
  held_raw: 'heldRaw',
  credited_raw: 'creditedRaw',
  consumed_raw: 'consumedRaw',
  wallet_raw: 'walletRaw',
  promised_raw: 'promisedRaw',
} as const satisfies Record<string, keyof BalanceState>;

function moveAgent(
  statement: AloneStatement,
  { agentId, before, after, counted }: AgentBatch,
  { posting, hold, guard }: Change,
): void {
  const put = (cell: Cell) => statement.cell(cell);
  const set = Object.entries(FUNDS).map(
    ([column, name]) => `${column} = f.${column} + ${put(bigint(after[name] - before[name]))}`,
  );
  if (counted) set.push(`counters = ${put(text(encodeCounters(after.counters)))}`);
  const agent = put(integer(agentId));
  const where = [`f.agent_id = ${agent}`, `f.version = ${put(bigint(before.version))}`];
  if (posting !== null) {
    where.push(`not exists (select from postings p where p.id = ${put(text(posting.id))})`);
  }
  // Found by their keys and nothing else, or all rows of the agent would be read for one.
  if (hold !== null && hold.fromRaw !== null) {
    where.push(`(select d.agent_id = ${agent} and d.amount_raw = ${put(bigint(hold.fromRaw))}
      from holds d where d.id = ${put(text(hold.holdId))})`);
  }
  if (guard?.row === 'reservation') {
    where.push(`(select r.agent_id = ${agent} and r.state = ${put(text(guard.state))}
      from reservations r where r.nonce = ${put(text(guard.id))})`);
  }
  statement.moveAgent(set.join(', '), where);
}

const post = (statement: AloneStatement, agentId: number, posting: Posting): void =>
  statement.insert('postings', {
    id: text(posting.id),
    agent_id: integer(agentId),
    code: text(posting.code),
    asked_raw: bigint(posting.askedRaw),
    debits: ['text[]', accountArray(posting.entries, 'debit')],
    credits: ['text[]', accountArray(posting.entries, 'credit')],
    amounts: ['bigint[]', amountArray(posting.entries)],
  });

function changeHold(
  statement: AloneStatement,
  agentId: number,
  { holdId, fromRaw, toRaw, sessionId, facts }: HoldChange,
  { nodeId, leaseEpoch }: Node,
): void {
  const id = text(holdId);
  if (fromRaw !== null) {
    statement.change(`delete from holds d using agent a where d.id = ${statement.cell(id)}`);
    return;
  }
  statement.insert('holds', {
    id,
    agent_id: integer(agentId),
    amount_raw: bigint(toRaw),
    kind: text(sessionId === null ? 'request' : 'session'),
    session_id: text(sessionId),
    node_id: text(nodeId),
    lease_epoch: integer(leaseEpoch),
    key_root_id: integer(facts.keyRootId),
    task_id: text(facts.taskId),
    host: text(facts.host),
    payee: text(facts.payee),
  });
}
