import { describe, expect, it } from 'vitest';
import { CarrierFailed } from '../../../src/phone/carriers/carrier.ts';
import { OURS, openTelnyx, openTwilio, THEIRS } from '../../support/open-carrier.ts';

const tone = (length: number, byte = 0x2a) => Buffer.alloc(length, byte);
const soon = <T>(look: () => T) => expect.poll(look, { interval: 5 });

const TWILIO = {
  name: 'Twilio',
  open: openTwilio,
  begins: ['queued', 'ringing', 'in-progress'],
  ends: ['completed'],
  priceRaw: 14_000n,
  takenCode: '21422',
  /** Digits are instructions of their own: the stream ends for them, and another follows. */
  streamsAfterDigits: 2,
  /** Of a call from outside. */
  end: { kind: 'status', status: 'completed' },
};
const TELNYX = {
  name: 'Telnyx',
  open: openTelnyx,
  begins: ['ringing'],
  /** Once when it is hung up, once with its cost. */
  ends: ['completed', 'completed'],
  /** Its price comes in a webhook alone. */
  priceRaw: null,
  takenCode: '85001',
  streamsAfterDigits: 1,
  /** It has an id of ours once it is answered. */
  end: { kind: 'status', callId: 'CAours', status: 'completed' },
};

describe.each([TWILIO, TELNYX])('numbers of the simulated $name', ({ open, takenCode }) => {
  it('numbers of a simulated carrier are searched, sold once, found by their purchase and returned', async () => {
    // An order of Telnyx is carried out only once it was asked about.
    const { carrier, sim, bought } = await open({ isLate: true });
    const found = await carrier.numbers.search({ areaCode: '415', limit: 5 });
    expect(found.map(({ phoneNumber }) => phoneNumber)).toEqual(['+14155550101']);
    const again = carrier.numbers.buy({ phoneNumber: OURS, purchaseId: 'purchase-2' });
    await expect(again).rejects.toMatchObject({ kind: 'taken', code: takenCode });
    expect(await carrier.numbers.findPurchase('purchase-1')).toEqual(bought);
    expect(await carrier.numbers.findPurchase('purchase-2')).toBeUndefined();
    await carrier.numbers.release(bought.carrierNumberId);
    await carrier.numbers.release(bought.carrierNumberId);
    expect(sim.owned).toEqual([]);
  });

  it('a number of a simulated carrier is found again when the response to its purchase was lost', async () => {
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

describe.each([TWILIO, TELNYX])('a call of the simulated $name', (row) => {
  const { open } = row;

  it('a call of a simulated carrier is reported, streamed, heard, measured and priced', async () => {
    const { edge, placed, carrier, statuses, heardHere } = await open({ speed: 5 });
    edge.onMedia = (event, { codec, send }) => {
      if (event.kind !== 'started') return;
      send(codec.media(tone(800, 0x11)));
      send(codec.mark('done'));
    };
    const call = await placed();
    await soon(() => edge.streams[0]?.events.some(({ kind }) => kind === 'mark')).toBe(true);
    await call.say(tone(1_000));
    const heard = () => Buffer.concat(heardHere().map(({ bytes }) => bytes));
    await soon(() => heard().includes(tone(1_000))).toBe(true);
    expect(heard().filter((byte) => byte !== 0xff)).toHaveLength(1_000);
    await carrier.calls.hangUp(call.sid);
    await call.over;
    expect(statuses()).toEqual([...row.begins, ...row.ends]);
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
      priceRaw: row.priceRaw,
    });
    // A call that is over is hung up without harm.
    await carrier.calls.hangUp(call.sid);
  });

  it.each(['busy', 'no-answer', 'failed'] as const)(
    'a call of a simulated carrier that is %s never requests instructions',
    async (answers) => {
      const { placed, statuses, edge } = await open({ callee: () => ({ answers }), speed: 500 });
      const call = await placed({ ringSeconds: 5 });
      await call.over;
      expect(statuses().at(-1)).toBe(answers);
      expect(edge.events.some(({ kind }) => kind === 'answered')).toBe(false);
      expect(call.durationSeconds).toBe(0);
    },
  );

  it('an inbound call of a simulated carrier has no id of the server until it is answered', async () => {
    const { sim, edge } = await open();
    const call = sim.ring(OURS, THEIRS);
    await soon(() => edge.streams[0]?.events.length ?? 0).toBeGreaterThan(2);
    call.hangUp();
    await call.over;
    expect(edge.events[0]).toEqual({
      kind: 'answered',
      callId: undefined,
      carrierCallId: call.sid,
      from: THEIRS,
      to: OURS,
      isAgain: false,
    });
    expect(edge.streams[0]?.events[1]).toMatchObject({ kind: 'started', callId: 'CAours' });
    expect(edge.events).toContainEqual(expect.objectContaining(row.end));
    expect(edge.events.at(-1)).toMatchObject({ kind: 'status', status: 'completed' });
  });

  it('a refused call of a simulated carrier was never answered', async () => {
    const { sim, edge } = await open();
    edge.instruct = () => ({ kind: 'reject', reason: 'busy' });
    const call = sim.ring(OURS, THEIRS);
    await call.over;
    expect(call).toMatchObject({ status: 'busy', isAnswered: false, durationSeconds: 0 });
  });

  it('a call of a simulated carrier opens its stream again with the same id when it breaks', async () => {
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

  it('a call of a simulated carrier hears digits in both directions, and its stream runs beside or after them', async () => {
    const { placed, edge, carrier } = await open({
      callee: () => ({ presses: [{ atMs: 100, digit: '7' }] }),
    });
    const call = await placed();
    await soon(() => edge.streams[0]?.events.find(({ kind }) => kind === 'digit')).toEqual({
      kind: 'digit',
      digit: '7',
    });
    await carrier.calls.sendDigits({ callId: 'CAours', carrierCallId: call.sid }, '12#');
    await soon(() => call.digitsHeard).toEqual(['12#']);
    await soon(() => edge.streams.length).toBe(row.streamsAfterDigits);
  });

  it.each([
    ['busy', 2],
    ['human', 1],
  ] as const)(
    'a call of a simulated carrier is transferred to a callee that is %s',
    async (answers, streams) => {
      const { placed, edge, carrier } = await open({
        callee: ({ to }) => (to === '+13105550100' ? { answers, hangsUpAtMs: 100 } : {}),
      });
      const call = await placed();
      await soon(() => edge.streams.length).toBe(1);
      await carrier.calls.transfer(
        { callId: 'CAours', carrierCallId: call.sid },
        { to: '+13105550100', longestSeconds: 600, whispers: false },
      );
      if (streams === 2) await soon(() => edge.streams.length).toBe(2);
      else await call.over;
      expect(edge.streams).toHaveLength(streams);
      expect(call.transfers).toHaveLength(1);
    },
  );

  it('a call of a simulated carrier stays up while its hang-up fails, and ends once a hang-up succeeds', async () => {
    const { placed, carrier, sim, edge } = await open();
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    sim.faults.failsHangUps = 1;
    await expect(carrier.calls.hangUp(call.sid)).rejects.toMatchObject({ kind: 'away' });
    expect(call.isOver).toBe(false);
    await carrier.calls.hangUp(call.sid);
    expect(call.isOver).toBe(true);
  });

  it('a call of a simulated carrier is placed and goes on when the response to its dial is lost', async () => {
    const { placed, sim, statuses } = await open({ faults: { losesDialAnswers: 1 } });
    await expect(placed()).rejects.toMatchObject({ kind: 'away' });
    expect(sim.calls).toHaveLength(1);
    await soon(statuses).toEqual(row.begins);
  });

  it('a call of a simulated carrier can have media without callbacks, and callbacks without media', async () => {
    const silent = await open({ faults: { losesStatusCallbacks: true } });
    const unreported = await silent.placed();
    await soon(() => silent.edge.streams.length).toBe(1);
    unreported.hangUp();
    await unreported.over;
    expect(silent.statuses()).toEqual([]);
    expect(silent.edge.streams).toHaveLength(1);
    const deaf = await open({
      callee: () => ({ hangsUpAtMs: 200 }),
      faults: { opensNoStream: true },
    });
    await (await deaf.placed()).over;
    expect(deaf.statuses()).toContain('completed');
    expect(deaf.edge.streams).toHaveLength(0);
  });
});
