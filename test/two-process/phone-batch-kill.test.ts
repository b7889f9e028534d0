import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { numbered } from '../support/call-batches.ts';
import { expectBalanced } from '../support/call-receipts.ts';
import { carrierProcesses, fundAt } from '../support/carrier-processes.ts';
import type { Callee } from '../support/carrier-sim/options.ts';
import { buyNumber } from '../support/carrier-world.ts';
import { startHeldServer } from '../support/held-server.ts';
import { ask } from '../support/whole-world.ts';

const RECIPIENTS = numbered(200);
/** How many numbers were dialled when a process is killed. */
const KILLED_AT = [30, 90] as const;

/** Every fifth person answers and leaves at once; one of ten is busy, and is called once more. */
const CALLEES: readonly Callee[] = [
  { answers: 'busy', ringMs: 30 },
  { ringMs: 30, hangsUpAtMs: 300 },
  { answers: 'no-answer', ringMs: 150 },
  { answers: 'failed' },
  { answers: 'no-answer', ringMs: 60 },
  { answers: 'no-answer', ringMs: 200 },
  { ringMs: 60, hangsUpAtMs: 500 },
  { answers: 'failed' },
  { answers: 'invalid' },
  { answers: 'no-answer', ringMs: 90 },
];

type Row = {
  readonly to: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly calls: number;
  readonly costRaw: string;
};

/** Resolves when nothing is left; rejects, naming what is left, when nothing of it has changed for so long. */
async function settled(
  left: () => Promise<readonly object[]>,
  { withinMs }: { readonly withinMs: number },
): Promise<void> {
  let [before, changedAtMs] = ['', performance.now()];
  for (;;) {
    const rows = await left();
    if (rows.length === 0) return;
    const now = JSON.stringify(rows);
    if (now !== before) [before, changedAtMs] = [now, performance.now()];
    if (performance.now() - changedAtMs > withinMs) expect(rows).toEqual([]);
    await delay(200);
  }
}

it('a batch of 200 calls with two of its processes killed calls each number once an attempt and costs what the ledger says', async () => {
  await using processes = await carrierProcesses({
    numbers: ['+14155557000'],
    callee: ({ to }) => CALLEES[Number(to.at(-1))] ?? {},
  });
  const { aim, sim, sql, target } = processes;
  const environment = {
    ...processes.environment,
    PHONE_CALLS_PER_AGENT: '40',
    PHONE_CALLS_PER_ACCOUNT: '40',
    LOCAL_LISTENERS: '1000',
  };
  const start = () => startHeldServer(environment, target);
  const [first, second] = await Promise.all([start(), start()]);
  aim(first);
  const { agentId, headers } = await fundAt(first, 'batch', 10_000_000n);
  await buyNumber(first.url, headers);
  const ordered = await ask(`${second.url}/v1/calls/batch`, {
    headers,
    body: {
      recipients: RECIPIENTS,
      maxConcurrent: 40,
      maxSpendRaw: '50000',
      retries: { busy: { count: 1, waitSeconds: 30 } },
    },
  });
  expect(ordered.status).toBe(201);
  const batchId = String(ordered.body.batchId);
  const dialled = (count: number) =>
    expect.poll(() => sim.calls.length, { timeout: 60_000, interval: 10 }).toBeGreaterThan(count);

  await dialled(KILLED_AT[0]);
  aim(second);
  const [third] = await Promise.all([start(), first.kill()]);
  await dialled(KILLED_AT[1]);
  aim(third);
  await second.kill();
  await using kept = third;
  const read = async () => (await ask(`${kept.url}/v1/calls/batch/${batchId}`, { headers })).body;
  const takeTurn = async () => {
    // Retries and the calls of the dead are due at once. A session that a living process has is left to it for a minute.
    await sql`
      update call_batch_rows set due_at = now() where batch_id = ${batchId} and state = 'waiting'`;
    await sql`
      update calls set due_at = now()
      where batch_id = ${batchId} and not terminal and created_at < now() - interval '3 seconds'`;
    return sql`
      select r.seq, r.state, r.attempts, c.id, c.status, c.started_at, c.end_reason, c.ended_at
      from call_batch_rows r
      left join calls c on c.work_id = r.batch_id || '.' || r.seq || '.' || r.attempts
      where r.batch_id = ${batchId} and r.state <> 'done' order by r.seq`;
  };
  await settled(takeTurn, { withinMs: 100_000 });
  await expect.poll(async () => (await read()).status).toBe('completed');

  const answer = await ask(`${kept.url}/v1/calls/batch/${batchId}/recipients?limit=1000`, {
    headers,
  });
  const rows = answer.body.recipients as Row[];
  expect(rows.map(({ to }) => to)).toEqual(RECIPIENTS.map(({ to }) => to));
  expect(rows.filter(({ status, outcome }) => status !== 'done' || outcome === null)).toEqual([]);
  for (const { calls, outcome, to } of rows) {
    const rung = sim.calls.filter((call) => call.to === to).length;
    expect(rung, `${to}: ${outcome}`).toBeLessThanOrEqual(calls);
    expect(calls, to).toBeLessThanOrEqual(to.endsWith('0') ? 2 : 1);
    expect(calls, to).toBeGreaterThan(0);
  }
  const { costRaw, counts } = await read();
  expect(Object.values(counts as Record<string, number>).reduce((sum, n) => sum + n, 0)).toBe(200);
  const [charged] = await sql`
    select sum(c.cost_raw)::text as raw from charges c join calls k on k.id = c.session_id
    where c.agent_id = ${agentId} and k.batch_id = ${batchId}`;
  expect(BigInt(charged?.raw)).toBeGreaterThan(0n);
  expect(`${rows.reduce((sum, row) => sum + BigInt(row.costRaw), 0n)}`).toBe(charged?.raw);
  expect(costRaw).toBe(charged?.raw);
  await expectBalanced(sql, agentId, 20_000);
  expect(await checkInvariants(sql)).toEqual([]);
}, 400_000);
