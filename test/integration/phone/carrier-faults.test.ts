import { describe, expect, it } from 'vitest';
import { OURS, openTwilio as open, THEIRS, twilioOf } from '../../support/open-carrier.ts';

const soon = <T>(look: () => T) => expect.poll(look, { interval: 5 });

describe('faults of the simulated carrier', () => {
  it('sends callbacks twice, in another order, and forged ones that nothing believes', async () => {
    const { edge, placed, sim, statuses } = await open({
      callee: () => ({ hangsUpAtMs: 100 }),
      faults: { duplicatesCallbacks: true, reordersCallbacks: true, forgesCallbacks: true },
    });
    const call = await placed();
    await call.over;
    expect(statuses()).toEqual([
      'ringing',
      'ringing',
      'queued',
      'queued',
      'completed',
      'completed',
      'in-progress',
      'in-progress',
    ]);
    const forged = sim.posted.filter(({ isForged }) => isForged);
    expect(forged.length).toBeGreaterThanOrEqual(5);
    expect(forged.map(({ status }) => status)).toEqual(forged.map(() => 403));
    expect(edge.refused).toBe(forged.length);
    const sequences = edge.events.flatMap((e) => (e.kind === 'status' ? [e.sequence] : []));
    expect(sequences).toEqual([1, 1, 0, 0, 3, 3, 2, 2]);
  });

  it('has the price of a call later than its end', async () => {
    const { placed, carrier, sim, edge } = await open({ faults: { priceDelayMs: 60_000 } });
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    await carrier.calls.hangUp(call.sid);
    expect(await carrier.calls.find(call.sid)).toMatchObject({
      status: 'completed',
      priceRaw: null,
    });
    sim.faults.priceDelayMs = 0;
    expect(await carrier.calls.find(call.sid)).toMatchObject({ priceRaw: 14_000n });
  });

  it('knows its customer, and reports what was spent', async () => {
    const { carrier, sim, edge, outbound } = await open();
    const stranger = twilioOf({ ...sim, authToken: 'another token' }, outbound);
    await expect(stranger.calls.find('CA1')).rejects.toMatchObject({
      kind: 'refused',
      code: '20003',
    });
    await carrier.watchSpend?.(50);
    await carrier.watchSpend?.(50);
    expect(sim.triggers).toHaveLength(1);
    const firedAtMs = Date.UTC(2026, 10, 1, 12);
    await sim.reportSpend('51.25', firedAtMs);
    const spent = { spentRaw: 51_250_000n, thresholdRaw: 50_000_000n };
    expect(edge.events).toEqual([{ kind: 'usage', ...spent, firedAtMs }]);
    await carrier.watchSpend?.(undefined);
    expect(sim.triggers).toEqual([]);
  });
});

describe('the simulated carrier as a program', () => {
  it('is steered over HTTP', async () => {
    const { sim, edge } = await open();
    const post = async (path: string, body: string) =>
      (await fetch(`${sim.baseUrl}/sim/${path}`, { method: 'POST', body })).json();
    const { sid } = (await post('ring', JSON.stringify({ to: OURS, from: THEIRS }))) as {
      sid: string;
    };
    await soon(() => edge.streams[0]?.events.length ?? 0).toBeGreaterThan(2);
    await post(`calls/${sid}/press`, '5');
    await soon(() => edge.streams[0]?.events.some(({ kind }) => kind === 'digit')).toBe(true);
    await post('faults', '{"markDelayMs":10}');
    expect(sim.faults.markDelayMs).toBe(10);
    expect(await post(`calls/${sid}/hang-up`, '')).toMatchObject({ status: 'completed' });
    const { calls } = (await (await fetch(`${sim.baseUrl}/sim/calls`)).json()) as {
      calls: unknown[];
    };
    expect(calls).toHaveLength(1);
  });
});
