import { expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { callEvents, legsRaw } from '../support/call-receipts.ts';
import { carrierProcesses, fundAt } from '../support/carrier-processes.ts';
import { buyNumber, greetWith, RENTAL_RAW, TO } from '../support/carrier-world.ts';
import { startHeldServer } from '../support/held-server.ts';
import type { Step } from '../support/held-server-child.ts';
import { ask, settledMoney } from '../support/whole-world.ts';

/** Where the process of a call dies: before and after each step of its reserve, and of its end. */
const STEPS: readonly Step[] = [
  'opening',
  'opened',
  'journaling',
  'journaled',
  'closing',
  'closed',
];

it('a call whose process is killed in any of its states is settled once by the other process', async () => {
  await using processes = await carrierProcesses({
    numbers: STEPS.map((_, n) => `+1415555${String(7_000 + n)}`),
    callee: () => ({ ringMs: 50 }),
  });
  const { aim, environment, sim, sql, target } = processes;
  await using kept = await startHeldServer(environment, target);
  const soon = <T>(look: () => Promise<T> | T) =>
    expect.poll(look, { timeout: 60_000, interval: 100 });

  async function fund(step: Step) {
    const { agentId, headers } = await fundAt(kept, `killed ${step}`, 6_000_000n);
    await buyNumber(kept.url, headers);
    await greetWith(sql, agentId, 'Hello, this is your agent.');
    return { agentId, headers };
  }

  let next = startHeldServer(environment, target);
  for (const step of STEPS) {
    const doomed = await next;
    const { agentId, headers } = await fund(step);
    aim(doomed);
    const atEnd = step === 'closing' || step === 'closed';
    if (!atEnd) doomed.hold({ step, count: 1, last: 'dies' });
    const placed = await ask(`${doomed.url}/v1/calls`, { headers, body: { toNumber: TO } });
    const callId = String(placed.body.callId);
    const read = async () => (await ask(`${kept.url}/v1/calls/${callId}`, { headers })).body;
    const line = sim.calls.at(-1);
    if (atEnd) {
      await soon(read).toMatchObject({ status: 'in_progress' });
      doomed.hold({ step, count: 1, last: 'dies' });
      await ask(`${doomed.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' }).catch(
        () => undefined,
      );
    }
    await doomed.died();
    aim(kept);
    next = startHeldServer(environment, target);
    // It goes on at the other process, or is over; the far side leaves what goes on.
    await soon(() => line?.isOver || (line?.streams.length ?? 0) > 1).toBe(true);
    line?.hangUp();
    await line?.over;
    await soon(async () => {
      await sql`update calls set due_at = now() where id = ${callId} and not terminal`;
      return (await sql`select terminal from calls where id = ${callId}`)[0];
    }).toEqual({ terminal: true });
    const ended = await callEvents(sql, callId);
    const [call] = await sql`select started_at from calls where id = ${callId}`;
    expect(ended, step).toHaveLength(call?.started_at === null ? 0 : 1);
    const money = await settledMoney(sql, agentId, 60_000);
    const toldRaw = RENTAL_RAW + legsRaw(ended[0]);
    expect(money.charged, step).toBe(toldRaw);
    expect(money.spendable, step).toBe(money.credited - toldRaw);
  }
  await (await next).kill();
  expect(await checkInvariants(sql)).toEqual([]);
}, 400_000);
