import { expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import type { Call } from '../../../src/phone/calls/call.ts';
import { createCallMoney } from '../../../src/phone/calls/call-money.ts';
import { sumOf } from '../../../src/phone/rate-card.ts';
import { MAIN_HOLD } from '../../../src/voice/billing/session-holds.ts';
import { aCall } from '../../support/a-call.ts';
import { aPolicy } from '../../support/a-policy.ts';
import { startCallWorld } from '../../support/call-world.ts';
import { insertPolicy } from '../../support/policy-arbitrary.ts';
import { processOn } from '../../support/reaping-process.ts';

const CALLS = 1_000;
const RESERVE_RAW = 40_000n;
/** A third of the calls find it empty. */
const BALANCE_RAW = 600n * RESERVE_RAW;
const TASK_CAP_RAW = 9_000_000n;

const model = { id: 'acme/fast', rail: 'direct-account' } as const;

it('a thousand concurrent calls on two processes overspend neither one balance nor one task by a raw unit', async () => {
  await using world = await startCallWorld();
  const { sql } = world;
  const agent = await world.agent(BALANCE_RAW);
  const { agentId, accountId } = agent;
  const cap = { limitRaw: TASK_CAP_RAW, kind: 'task', matchKey: 'errand' } as const;
  await insertPolicy(sql, { accountId, agentId }, aPolicy(cap));
  await sql`update agent_funds set rules_version = rules_version + 1, version = version + 1
    where agent_id = ${agentId}`;
  const ledgers = [world.main.ledger, (await processOn(sql, 'second', 60_000)).ledger];

  const callOf = (n: number): Call =>
    aCall({
      agentId,
      accountId,
      direction: 'outbound',
      maxSpendRaw: RESERVE_RAW,
      taskId: n % 2 === 0 ? 'errand' : `other ${n}`,
    });

  async function talk(n: number): Promise<bigint> {
    const ledger = ledgers[n % 2] ?? world.main.ledger;
    const deps = { ledger, clock: systemClock, log: silentLog };
    const call = callOf(n);
    const { holdNameOf, holds, meter } = createCallMoney(deps, call, {
      taken: undefined,
      wallet: null,
    });
    if ((await holds.hold(MAIN_HOLD, RESERVE_RAW)).kind !== 'extended') return 0n;
    const source = { ...model, provider: 'acme', upstreamModel: 'm', rates: {}, marginBps: 0 };
    const name = holdNameOf({ id: model.id } as never, source as never);
    let modelRaw = 0n;
    for (let turn = 0; turn < 3; turn++) {
      const costRaw = BigInt(1_000 + ((n * 7_919 + turn * 104_729) % 3_000));
      // A part of its own reserve is never taken by another call.
      expect(await holds.hold(name, costRaw)).toMatchObject({ kind: 'extended' });
      const { costRaw: lineRaw, usage } = meter.charge({
        lineSeconds: (turn + 1) * 15,
        sttSeconds: 4,
        ttsCharacters: 60,
      });
      await holds.journal([
        { sessionHold: name, costRaw, usage: {} },
        { sessionHold: MAIN_HOLD, costRaw: lineRaw, usage },
      ]);
      modelRaw += costRaw;
    }
    await holds.settle({ reason: 'call_ended', status: 'success' });
    return modelRaw + sumOf(meter.legs);
  }

  const spentRaw = await Promise.all(Array.from({ length: CALLS }, (_, n) => talk(n)));
  const placed = spentRaw.filter((raw) => raw > 0n);
  expect(placed.length).toBeGreaterThan(100);
  expect(placed.length).toBeLessThan(CALLS);
  const [money] = await sql<{ spendable_raw: bigint; held_raw: bigint; consumed_raw: bigint }[]>`
    select spendable_raw, held_raw, consumed_raw from agent_funds where agent_id = ${agentId}`;
  const totalRaw = placed.reduce((sum, raw) => sum + raw, 0n);
  expect(money).toEqual({
    spendable_raw: BALANCE_RAW - totalRaw,
    held_raw: 0n,
    consumed_raw: totalRaw,
  });
  const [charged] = await sql<{ all: bigint; errand: bigint }[]>`
    select sum(cost_raw)::bigint as all,
      sum(cost_raw) filter (where task_id = 'errand')::bigint as errand
    from charges where agent_id = ${agentId}`;
  expect(charged?.all).toBe(totalRaw);
  expect(charged?.errand).toBeLessThanOrEqual(TASK_CAP_RAW);
  expect(await world.faults()).toEqual([]);
}, 120_000);
