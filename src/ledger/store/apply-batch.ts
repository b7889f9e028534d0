import type { Queryable } from '../../platform/postgres/sql.ts';
import type {
  AgentBatch,
  AgentBatchOutcome,
  BalanceState,
  ChangeOutcome,
} from '../rules/change.ts';
import type { Node } from '../rules/node.ts';
import { applySingle } from './apply-single.ts';
import { decodeCounters } from './counter-codec.ts';
import { encodeBatch } from './encode-batch.ts';

/** Agent's row of balances, in the form of every select. */
export type StateRow = {
  version: bigint;
  rules_version: bigint;
  spendable: bigint;
  held: bigint;
  credited: bigint;
  consumed: bigint;
  wallet: bigint;
  promised: bigint;
  counters: string | null;
};

export const stateOf = (row: StateRow): BalanceState => ({
  version: row.version,
  rulesVersion: row.rules_version,
  spendableRaw: row.spendable,
  heldRaw: row.held,
  creditedRaw: row.credited,
  consumedRaw: row.consumed,
  walletRaw: row.wallet,
  promisedRaw: row.promised,
  counters: decodeCounters(row.counters),
});

/** A batch that was not applied, and the state to decide it on again: null when the agent does not exist. */
type Row = (StateRow | { version: null }) & {
  part: number;
  verdicts: string;
  details: (bigint | null)[] | null;
  spent: (bigint | null)[] | null;
};

/** Types of the arguments of `apply_batch`, in order. A fixed text saves the driver from building it in each call. */
const ARGUMENTS =
  'integer[] bigint[] integer[] bigint[] bigint[] bigint[] bigint[] bigint[] bigint[] text[] ' +
  'integer[] text[] text[] bigint[] text[] text[] text[] text[] ' +
  'integer[] text[] bigint[] bigint[] text[] integer[] text[] text[] text[] ' +
  'integer[] integer[] bigint[] bigint[] bigint[] bigint[] boolean[] ' +
  'integer[] text[] integer[] text[] text[] text integer boolean text::jsonb';

const CALL = `select * from apply_batch(${ARGUMENTS.split(' ')
  .map((type, i) => `$${i + 1}::${type}`)
  .join(', ')})`;

/**
 * Applies batches and returns the outcome for each agent, in one round trip and one commit. The batches must be in ascending
 * order of their agents. Sending the same parts again, as `resent`, is harmless.
 */
export async function applyBatch(
  sql: Queryable,
  node: Node,
  parts: readonly AgentBatch[],
  resent = false,
): Promise<readonly AgentBatchOutcome[]> {
  const outcomes: AgentBatchOutcome[] = parts.map((part) => ({
    kind: 'applied',
    state: part.after,
  }));
  // A first copy of resent parts may still be on its way, so they do not take the short path.
  if (!resent && (await applySingle(sql, node, parts))) return outcomes;
  const encoded = encodeBatch(parts);
  const { parts: p, operations: o, holds: h, team: t, guards: g, companions } = encoded;
  const rows = await sql.unsafe<Row[]>(
    CALL,
    [
      p.agent,
      p.version,
      p.size,
      p.spendable,
      p.held,
      p.credited,
      p.consumed,
      p.wallet,
      p.promised,
      p.counters,
      o.part,
      o.id,
      o.code,
      o.asked,
      o.debits,
      o.credits,
      o.amounts,
      o.nonce,
      h?.op ?? null,
      h?.id ?? null,
      h?.from ?? null,
      h?.to ?? null,
      h?.session ?? null,
      h?.key ?? null,
      h?.task ?? null,
      h?.host ?? null,
      h?.payee ?? null,
      t?.op ?? null,
      t?.policy ?? null,
      t?.bucket ?? null,
      t?.held ?? null,
      t?.settled ?? null,
      t?.cap ?? null,
      t?.stops ?? null,
      g?.op ?? null,
      g?.id ?? null,
      g?.epoch ?? null,
      g?.state ?? null,
      g?.done ?? null,
      node.nodeId,
      node.leaseEpoch,
      resent,
      companions,
    ],
    { prepare: true },
  );
  for (const row of rows) {
    const part = parts[row.part - 1];
    if (part !== undefined) outcomes[row.part - 1] = declined(part, row);
  }
  return outcomes;
}

function declined(part: AgentBatch, row: Row): AgentBatchOutcome {
  if (row.version === null) return { kind: 'agent_unknown' };
  const state = stateOf(row);
  const { verdicts, details, spent } = row;
  const outcomes = part.changes.map((_, i) =>
    changeOutcome(verdicts[i], details?.[i] ?? null, spent?.[i] ?? null),
  );
  return { kind: 'declined', state, stale: state.version !== part.before.version, outcomes };
}

function changeOutcome(
  letter: string | undefined,
  detail: bigint | null,
  spentRaw: bigint | null,
): ChangeOutcome {
  switch (letter) {
    case 'd':
      return { kind: 'already', leftRaw: detail ?? 0n };
    case 'c':
      return { kind: 'conflict' };
    case 'l':
      return { kind: 'lost' };
    case 'm':
      return { kind: 'mismatch', openRaw: detail };
    case 't':
      return { kind: 'capped', policyId: Number(detail), spentRaw: spentRaw ?? 0n };
    default:
      // An id that occurs earlier in the same batch is decided again, on the outcome of the earlier operation.
      return { kind: 'again' };
  }
}
