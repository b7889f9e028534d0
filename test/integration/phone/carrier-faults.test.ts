import { describe, expect, it } from 'vitest';
import { OURS, openTwilio as open, THEIRS, twilioOf } from '../../support/open-carrier.ts';

const soon = <T>(look: () => T) => expect.poll(look, { interval: 5 });

describe('faults of the simulated carrier', () => {
  it('the simulated carrier sends callbacks twice, out of order and forged, and the forged ones are not believed', async () => {
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

  it('the simulated carrier has the price of a call only after its end', async () => {
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

  it('the simulated carrier identifies its customer, and reports the spend', async () => {
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
  it('the simulated carrier runs as a program that is controlled over HTTP', async () => {
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
