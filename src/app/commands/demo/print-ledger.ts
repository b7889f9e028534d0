import { formatUsdc } from '../../../kernel/amount.ts';
import { type Clock, sleep } from '../../../kernel/clock.ts';
import { findBalance } from '../../../ledger/store/balances.ts';
import { readCharges, readStatement } from '../../../ledger/store/statement-store.ts';
import type { Sql } from '../../../platform/postgres/sql.ts';

const MOST_LINES = 200;
const SETTLE_WITHIN_MS = 5_000;
const POLL_MS = 20;

/** Prints every posting of an agent and every purchase. Returns the sum of the purchases in raw USDC. */
export async function printLedger(
  sql: Sql,
  agentId: number,
  said: (line: string) => void,
): Promise<bigint> {
  for (const { code, debits, credits, amounts } of await readStatement(sql, agentId, MOST_LINES)) {
    amounts.forEach((amount, i) => {
      const move = `${short(debits[i])} -> ${short(credits[i])}`;
      said(`${code.padEnd(15)} ${formatUsdc(amount).padStart(10)}   ${move}`);
    });
  }
  let spentRaw = 0n;
  for (const { targetUrl, costRaw, usage } of await readCharges(sql, agentId, MOST_LINES)) {
    spentRaw += costRaw;
    const units = Object.entries(usage).map(([unit, quantity]) => `${quantity} ${unit}`);
    said(
      `bought          ${formatUsdc(costRaw).padStart(10)}   ${targetUrl}  (${units.join(', ')})`,
    );
  }
  return spentRaw;
}

/**
 * Waits until the agent has no open hold: a session settles a moment after its socket has closed. Throws after
 * `SETTLE_WITHIN_MS`.
 */
export async function waitForSettlement(clock: Clock, sql: Sql, agentId: number): Promise<void> {
  const deadlineMs = clock.monotonicMs() + SETTLE_WITHIN_MS;
  while (((await findBalance(sql, agentId))?.state.heldRaw ?? 0n) > 0n) {
    if (clock.monotonicMs() > deadlineMs) throw new Error('a session did not settle');
    await sleep(clock, POLL_MS);
  }
}

/** Shortens the name of an agent's account: `agent:7:held` becomes `held`. Other accounts keep their names. */
const short = (account: string | undefined) => account?.replace(/^agent:\d+:/, '') ?? '';
