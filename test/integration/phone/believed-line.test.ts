import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hearCarrier } from '../../../src/phone/calls/hear-carrier.ts';
import { startCallWorld } from '../../support/call-world.ts';

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a call whose process was lost', () => {
  it('a call whose process was lost costs no more than the time since its answer, even if the carrier reports a longer duration', async () => {
    for (const [toldSeconds, leastSeconds, mostSeconds] of [
      // One second for rounding, and what the sweep itself takes.
      [86_400, 21, 24],
      [Number.MAX_SAFE_INTEGER, 21, 24],
      [20, 20, 20],
      [0, 0, 0],
      [-5, 0, 0],
    ] as const) {
      const agent = await world.agent();
      const { callId, carrierCallId } = await world.call(agent, { answered: true });
      await world.loseProcess(callId);
      await world.began(callId, 20);
      world.say(carrierCallId, 'completed', toldSeconds);
      await world.sweep();
      const row = await world.row(callId);
      expect(row).toMatchObject({ terminal: true, is_backstop: true });
      const seconds = Number(row?.duration_seconds);
      expect(seconds).toBeGreaterThanOrEqual(leastSeconds);
      expect(seconds).toBeLessThanOrEqual(mostSeconds);
      const chargedRaw = BigInt(seconds) * 245n;
      expect(row).toMatchObject({ transport_raw: chargedRaw });
      expect(await world.ended(callId)).toMatchObject([
        { durationSeconds: seconds, transportRaw: `${chargedRaw}` },
      ]);
      expect(await world.main.ledger.funds(agent.agentId)).toMatchObject({
        spendableRaw: 5_000_000n - chargedRaw,
        heldRaw: 0n,
      });
      const [shortfall] = await world.sql<{ raw: bigint }[]>`
        select amounts[array_position(debits, 'shortfall:loopback')] as raw
        from postings where id = ${`resolve:${callId}`}`;
      // Of what the carrier tells beyond it, a day at most is written down.
      const beyondRaw = toldSeconds > 20 ? 86_400n * 245n - chargedRaw : null;
      expect([toldSeconds, shortfall?.raw]).toEqual([toldSeconds, beyondRaw]);
    }
    expect(await world.faults()).toEqual([]);
  });

  it('a call whose process was lost costs the time until its carrier reported the end, however late the sweep is', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent, { answered: true });
    await world.loseProcess(callId);
    await world.began(callId, 20);
    const said = {
      kind: 'status',
      callId,
      carrierCallId,
      status: 'completed',
      sequence: 9,
    } as const;
    await hearCarrier(world.deps, { ...said, durationSeconds: null, priceRaw: null });
    await world.sql`update calls set started_at = started_at - interval '1 hour',
      ended_at = ended_at - interval '1 hour' where id = ${callId}`;
    world.say(carrierCallId, 'completed', 86_400);
    await world.due(callId);
    await world.sweep();
    const { duration_seconds: seconds } = (await world.row(callId)) ?? {};
    expect(Number(seconds)).toBeGreaterThanOrEqual(21);
    expect(Number(seconds)).toBeLessThanOrEqual(24);
  });
});
