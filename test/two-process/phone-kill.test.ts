import { expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { callEvents, chargedLegsRaw, expectBalanced, legsRaw } from '../support/call-receipts.ts';
import { carrierProcesses, fundAt } from '../support/carrier-processes.ts';
import type { SimCall } from '../support/carrier-sim/sim-call.ts';
import { buyNumber, greetWith, TO } from '../support/carrier-world.ts';
import { HANDOVER_SILENCE_MS, handedOver } from '../support/handed-over.ts';
import { startServerProcess } from '../support/server-process.ts';
import { ask } from '../support/whole-world.ts';

/** At each of these times after it was placed, the process of a call is killed. */
const KILLS_MS = [0, 60, 150, 400, 900, 1_600, 2_600];

it('a call whose process is killed at any moment is settled once, and most calls go on at the other process within 2 s', async () => {
  await using processes = await carrierProcesses({
    numbers: Array.from({ length: 40 }, (_, n) => `+1415555${5_000 + n}`),
    callee: () => ({ ringMs: 100, hangsUpAtMs: 6_000 }),
  });
  const { aim, environment, sim, sql } = processes;
  const start = () => startServerProcess(environment);
  let dying = await start();
  let goesOn = 0;
  const kept = await start();
  const fund = async (name: string) => {
    const agent = await fundAt(kept, name, 6_000_000n);
    await buyNumber(kept.url, agent.headers);
    await greetWith(sql, agent.agentId, 'Hello, this is your agent speaking to you.');
    return agent;
  };

  for (const [n, killMs] of KILLS_MS.entries()) {
    const agent = await fund(`agent ${n}`);
    aim(dying);
    const placing = ask(`${dying.url}/v1/calls`, {
      headers: agent.headers,
      body: { toNumber: TO },
    }).catch(() => undefined);
    if (killMs > 0) await placing;
    await new Promise((resolve) => setTimeout(resolve, killMs));
    // As behind a load balancer that knows of the death at once.
    aim(kept);
    const [, next] = await Promise.all([dying.kill(), start()]);
    dying = next;
    await placing;
    const [row] = await sql<
      { id: string }[]
    >`select id from calls where agent_id = ${agent.agentId}`;
    if (row === undefined) continue;
    await expect
      .poll(
        async () => {
          await sql`update calls set due_at = least(due_at, now() + interval '1 second')
            where id = ${row.id} and not terminal`;
          return (await sql`select terminal from calls where id = ${row.id}`)[0]?.terminal;
        },
        { timeout: 90_000, interval: 500 },
      )
      .toBe(true);
    const [call] = await sql<
      Record<string, bigint & string>[]
    >`select * from calls where id = ${row.id}`;
    const ended = await callEvents(sql, row.id);
    const wasAnswered = call?.started_at !== null;
    expect(ended.length, `killed after ${killMs} ms`).toBe(wasAnswered ? 1 : 0);
    if (Number(call?.streams_opened) > 1) {
      goesOn++;
      const line = sim.calls.find(({ sid }) => sid === call?.carrier_call_id) as SimCall;
      const { closedMs = 0, heardFromMs = Number.NaN } = (await handedOver(line)) ?? {};
      expect(heardFromMs - closedMs, `killed after ${killMs} ms`).toBeLessThanOrEqual(
        HANDOVER_SILENCE_MS,
      );
    }
    expect(legsRaw(ended[0])).toBe(await chargedLegsRaw(sql, row.id));
  }
  // Holds of models that a dead process had open are released once its lease is over.
  await expect
    .poll(async () => Number((await sql`select count(*)::int as open from holds`)[0]?.open), {
      timeout: 90_000,
      interval: 1_000,
    })
    .toBe(0);
  const agents = await sql<{ id: number }[]>`select id from agents`;
  for (const { id } of agents) await expectBalanced(sql, id);
  expect(goesOn).toBeGreaterThanOrEqual(3);
  expect(sim.calls.length).toBeGreaterThanOrEqual(KILLS_MS.length - 1);
  expect(await checkInvariants(sql)).toEqual([]);
  await dying.kill();
  expect(await kept.stop()).toBe(0);
}, 400_000);
