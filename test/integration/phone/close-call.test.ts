import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import { createCallMoney } from '../../../src/phone/calls/call-money.ts';
import { findCall } from '../../../src/phone/calls/call-store.ts';
import { closeCall } from '../../../src/phone/calls/ending/close-call.ts';
import { startCallWorld } from '../../support/call-world.ts';

const FIGURES = { jitterMs: 0 } as never;
const AWAY: Partial<Ledger> = {
  journal: () => Promise.reject(new Error('the ledger is away')),
  closeSession: () => Promise.reject(new Error('the ledger is away')),
};

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A call whose session has ended at this process, with what its ledger answered. */
async function ended(reason: string, answers: Partial<Ledger>) {
  const agent = await world.agent();
  const { callId, carrierCallId } = await world.call(agent, { answered: true });
  const call = await findCall(world.sql, callId);
  const taken = await world.deps.takeSession(callId);
  if (call === undefined || taken === undefined) throw new Error('the call lives');
  const ledger = { ...world.main.ledger, ...answers };
  const deps = { ledger, clock: systemClock, log: silentLog };
  const money = createCallMoney(deps, call, { taken, wallet: null });
  const { costRaw, usage } = money.meter.charge({ lineSeconds: 5 });
  await money.holds.journal([{ sessionHold: '', costRaw, usage }]).catch(() => {});
  await money.holds.settle({ reason, status: 'failed' });
  const closed: string[] = [];
  const line = { close: (_: number, why: string) => closed.push(why) };
  await closeCall(world.deps, {
    call,
    live: { line: line as never, lineFigures: FIGURES },
    money,
    over: Promise.resolve(),
    turns: { flushed: async () => {} },
  });
  return { callId, carrierCallId, closed };
}

describe('a call whose session has ended', () => {
  it('a call whose session has ended is hung up when its settlement is uncertain, and the sweeper settles it', async () => {
    const { callId, carrierCallId, closed } = await ended('ledger_unavailable', AWAY);
    expect(closed).toEqual(['error']);
    expect(world.hungUp).toContain(carrierCallId);
    expect(await world.row(callId)).toMatchObject({ status: 'in_progress', terminal: false });
    // The carrier has ended it by then, a minute ago.
    await world.sql`update calls set started_at = now() - interval '2 minutes' where id = ${callId}`;
    await world.record(carrierCallId, 'completed', 6);
    await world.due(callId);
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ terminal: true, is_backstop: true });
    expect(await world.faults()).toEqual([]);
  });

  it('a transferred call goes on at the carrier after its session has ended, even if the ledger is uncertain', async () => {
    const { carrierCallId, closed } = await ended('call_transfer', AWAY);
    expect(closed).toEqual(['call_transfer']);
    expect(world.hungUp).not.toContain(carrierCallId);
  });

  it('a call whose session has ended is not hung up when another process has taken it over', async () => {
    const { callId, carrierCallId, closed } = await ended('ledger_unavailable', {
      closeSession: async () => ({ kind: 'already_resolved' }),
    });
    expect(closed).toEqual([]);
    expect(world.hungUp).not.toContain(carrierCallId);
    expect(await world.row(callId)).toMatchObject({ terminal: false });
  });
});
