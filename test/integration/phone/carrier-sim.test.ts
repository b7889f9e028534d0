import { describe, expect, it } from 'vitest';
import { CarrierFailed } from '../../../src/phone/carriers/carrier.ts';
import { OURS, openCarrier as open, THEIRS } from '../../support/open-carrier.ts';

const tone = (length: number, byte = 0x2a) => Buffer.alloc(length, byte);
const soon = <T>(look: () => T) => expect.poll(look, { interval: 5 });

describe('numbers of the simulated carrier', () => {
  it('are searched, sold once, found by their purchase and given back', async () => {
    const { carrier, sim, bought } = await open();
    const found = await carrier.numbers.search({ areaCode: '415', limit: 5 });
    expect(found.map(({ phoneNumber }) => phoneNumber)).toEqual(['+14155550101']);
    const again = carrier.numbers.buy({ phoneNumber: OURS, purchaseId: 'purchase-2' });
    await expect(again).rejects.toMatchObject({ kind: 'taken', code: '21422' });
    expect(await carrier.numbers.findPurchase('purchase-1')).toEqual(bought);
    expect(await carrier.numbers.findPurchase('purchase-2')).toBeUndefined();
    await carrier.numbers.release(bought.carrierNumberId);
    await carrier.numbers.release(bought.carrierNumberId);
    expect(sim.owned).toEqual([]);
  });

  it('are found again where the answer to their purchase was lost', async () => {
    const { carrier, sim } = await open();
    sim.faults.losesPurchaseAnswers = 1;
    const buying = carrier.numbers.buy({ phoneNumber: '+12125550100', purchaseId: 'lost' });
    await expect(buying).rejects.toBeInstanceOf(CarrierFailed);
    await expect(buying).rejects.toMatchObject({ kind: 'away' });
    expect(await carrier.numbers.findPurchase('lost')).toMatchObject({
      phoneNumber: '+12125550100',
    });
  });
});

describe('a call of the simulated carrier', () => {
  it('is reported, streamed, heard, measured and priced', async () => {
    const { edge, placed, carrier, statuses } = await open({ speed: 5 });
    edge.onMedia = (event, { codec, send }) => {
      if (event.kind !== 'started') return;
      send(codec.media(tone(800, 0x11)));
      send(codec.mark('done'));
    };
    const call = await placed();
    const heardHere = () =>
      Buffer.concat(
        (edge.streams[0]?.events ?? []).flatMap((e) => (e.kind === 'media' ? [e.bytes] : [])),
      );
    await soon(() => edge.streams[0]?.events.some(({ kind }) => kind === 'mark')).toBe(true);
    await call.say(tone(1_000));
    await soon(() => heardHere().includes(tone(1_000))).toBe(true);
    expect(heardHere().filter((byte) => byte !== 0xff)).toHaveLength(1_000);
    await carrier.calls.hangUp(call.sid);
    await call.over;
    expect(statuses()).toEqual(['queued', 'ringing', 'in-progress', 'completed']);
    expect(call.heardBytes).toEqual(tone(800, 0x11));
    const [first, second] = call.heard;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBe(20);
    const events = edge.streams[0]?.events ?? [];
    expect(events.slice(0, 2)).toMatchObject([
      { kind: 'ignored' },
      { kind: 'started', callId: 'CAours', carrierCallId: call.sid },
    ]);
    expect(events.at(-1)).toEqual({ kind: 'stopped' });
    expect(await carrier.calls.find(call.sid)).toEqual({
      carrierCallId: call.sid,
      status: 'completed',
      durationSeconds: call.durationSeconds,
      priceRaw: 14_000n,
    });
    // A call that is over is hung up without harm.
    await carrier.calls.hangUp(call.sid);
  });

  it.each([
    ['busy', 'busy'],
    ['no-answer', 'no-answer'],
    ['failed', 'failed'],
  ] as const)('that is %s never asks for instructions', async (answers, status) => {
    const { placed, statuses, edge } = await open({ callee: () => ({ answers }), speed: 500 });
    const call = await placed({ ringSeconds: 5 });
    await call.over;
    expect(statuses().at(-1)).toBe(status);
    expect(edge.events.some(({ kind }) => kind === 'answered')).toBe(false);
    expect(call.durationSeconds).toBe(0);
  });

  it('that rings is canceled', async () => {
    const { placed, carrier, statuses } = await open({ callee: () => ({ ringMs: 20_000 }) });
    const call = await placed();
    await carrier.calls.hangUp(call.sid);
    await call.over;
    expect(statuses().at(-1)).toBe('canceled');
  });

  it('says that a machine has answered', async () => {
    const { placed, edge } = await open({
      callee: () => ({ answers: 'machine_end_beep', recognisedAtMs: 100, hangsUpAtMs: 300 }),
    });
    const call = await placed({ detectsMachine: true, awaitsGreetingEnd: true });
    await call.over;
    expect(edge.events).toContainEqual({
      kind: 'machine',
      carrierCallId: call.sid,
      answeredBy: 'machine_end',
    });
  });

  it('is said to be of a machine at once where the end of its greeting is not waited for', async () => {
    const { placed, edge } = await open({
      callee: () => ({ answers: 'machine_end_beep', recognisedAtMs: 100, hangsUpAtMs: 300 }),
    });
    const call = await placed({ detectsMachine: true });
    await call.over;
    expect(edge.events.filter(({ kind }) => kind === 'machine')).toMatchObject([
      { answeredBy: 'machine_start' },
    ]);
  });

  it('tells the person whom it is transferred to what was asked for, once they have answered', async () => {
    const { placed, edge, carrier } = await open({ callee: () => ({ ringMs: 100 }) });
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    await carrier.calls.transfer({ callId: 'CAours', carrierCallId: call.sid }, THEIRS, true);
    await call.over;
    expect(call.transfers).toEqual([{ to: THEIRS, status: 'completed', whispered: '' }]);
    expect(edge.events.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['transferred', 'whisper']),
    );
  });

  it('comes from outside, without an id of ours', async () => {
    const { sim, edge } = await open();
    const call = sim.ring(OURS, THEIRS, { hangsUpAtMs: 200 });
    await call.over;
    expect(edge.events[0]).toEqual({
      kind: 'answered',
      callId: undefined,
      carrierCallId: call.sid,
      from: THEIRS,
      to: OURS,
      isAgain: false,
    });
    expect(edge.events.at(-1)).toMatchObject({ kind: 'status', status: 'completed' });
  });

  it('that is refused was never answered', async () => {
    const { sim, edge } = await open();
    edge.instruct = () => ({ kind: 'reject', reason: 'busy' });
    const call = sim.ring(OURS, THEIRS);
    await call.over;
    expect(call).toMatchObject({ status: 'busy', isAnswered: false, durationSeconds: 0 });
  });

  it('asks again when its stream breaks, and goes on with the same id', async () => {
    const { placed, edge, carrier } = await open({ faults: { dropsSocketAtMs: 100 } });
    const call = await placed();
    await soon(() => edge.streams.length).toBe(2);
    expect(edge.events.filter(({ kind }) => kind === 'answered')).toMatchObject([
      { callId: 'CAours', isAgain: false },
      { callId: 'CAours', isAgain: true },
    ]);
    await carrier.calls.hangUp(call.sid);
    await call.over;
  });

  it('hears digits in both directions, and streams again after them', async () => {
    const { placed, edge, carrier } = await open({
      callee: () => ({ presses: [{ atMs: 100, digit: '7' }] }),
    });
    const call = await placed();
    await soon(() => edge.streams[0]?.events.find(({ kind }) => kind === 'digit')).toEqual({
      kind: 'digit',
      digit: '7',
    });
    await carrier.calls.sendDigits({ callId: 'CAours', carrierCallId: call.sid }, '12#');
    await soon(() => edge.streams.length).toBe(2);
    expect(call.digitsHeard).toEqual(['12#']);
  });

  it.each([
    ['busy', 2],
    ['human', 1],
  ] as const)('is transferred to one that is %s', async (answers, streams) => {
    const { placed, edge, carrier } = await open({
      callee: ({ to }) => (to === '+13105550100' ? { answers, hangsUpAtMs: 100 } : {}),
    });
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    await carrier.calls.transfer({ callId: 'CAours', carrierCallId: call.sid }, '+13105550100');
    if (streams === 2) await soon(() => edge.streams.length).toBe(2);
    else await call.over;
    expect(edge.streams).toHaveLength(streams);
    expect(call.transfers).toHaveLength(1);
  });

  it('ends at its longest', async () => {
    const { placed } = await open();
    const call = await placed({ longestSeconds: 2 });
    await call.over;
    // A busy machine is late, and its lateness counts twenty times.
    expect(call.durationSeconds).toBeGreaterThanOrEqual(2);
    expect(call.durationSeconds).toBeLessThan(60);
  });
});

describe('playback of the simulated carrier', () => {
  it('clears what was not heard, and returns all its marks at once', async () => {
    const { edge, placed, carrier } = await open();
    edge.onMedia = (event, { codec, send, events }) => {
      if (event.kind === 'started') {
        for (const name of ['a', 'b', 'c']) {
          send(codec.media(tone(80_000)));
          send(codec.mark(name));
        }
      }
      if (events.filter(({ kind }) => kind === 'media').length === 10) send(codec.clear());
    };
    const call = await placed();
    const names = () =>
      edge.streams[0]?.events.flatMap((event) => (event.kind === 'mark' ? [event.name] : []));
    await soon(names).toEqual(['a', 'b', 'c']);
    await carrier.calls.hangUp(call.sid);
    await call.over;
    expect(call.heardBytes.length).toBeGreaterThan(0);
    expect(call.heardBytes.length).toBeLessThan(80_000);
  });

  it('returns marks late and twice where it is told to', async () => {
    const { edge, placed } = await open({ faults: { markDelayMs: 400, doublesMarks: true } });
    edge.onMedia = (event, { codec, send }) => {
      if (event.kind === 'started') send(codec.mark('late'));
    };
    await placed();
    const events = () => edge.streams[0]?.events ?? [];
    await soon(() => events().filter(({ kind }) => kind === 'mark').length).toBe(2);
    const before = events().findIndex(({ kind }) => kind === 'mark');
    const sound = events()
      .slice(0, before)
      .filter(({ kind }) => kind === 'media');
    expect(sound.length).toBeGreaterThanOrEqual(15);
  });
});
