import { describe, expect, it } from 'vitest';
import { openTwilio as open, THEIRS } from '../../support/open-carrier.ts';

const tone = (length: number, byte = 0x2a) => Buffer.alloc(length, byte);
const soon = <T>(look: () => T) => expect.poll(look, { interval: 5 });

describe('a call of the simulated carrier', () => {
  it('a ringing call of the simulated carrier can be canceled', async () => {
    const { placed, carrier, statuses } = await open({ callee: () => ({ ringMs: 20_000 }) });
    const call = await placed();
    await carrier.calls.hangUp(call.sid);
    await call.over;
    expect(statuses().at(-1)).toBe('canceled');
  });

  it('a call of the simulated carrier reports that a machine has answered', async () => {
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

  it('a call of the simulated carrier reports a machine at once when the call does not wait for the end of the greeting', async () => {
    const { placed, edge } = await open({
      callee: () => ({ answers: 'machine_end_beep', recognisedAtMs: 100, hangsUpAtMs: 300 }),
    });
    const call = await placed({ detectsMachine: true });
    await call.over;
    expect(edge.events.filter(({ kind }) => kind === 'machine')).toMatchObject([
      { answeredBy: 'machine_start' },
    ]);
  });

  it('the simulated carrier whispers to the callee of a transfer once they have answered', async () => {
    const { placed, edge, carrier } = await open({ callee: () => ({ ringMs: 100 }) });
    const call = await placed();
    await soon(() => edge.streams.length).toBe(1);
    await carrier.calls.transfer(
      { callId: 'CAours', carrierCallId: call.sid },
      { to: THEIRS, longestSeconds: 600, whispers: true },
    );
    await call.over;
    expect(call.transfers).toEqual([{ to: THEIRS, status: 'completed', whispered: '' }]);
    expect(edge.events.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['transferred', 'whisper']),
    );
  });

  it('a call of the simulated carrier ends at its maximum duration', async () => {
    const { placed } = await open();
    const call = await placed({ longestSeconds: 2 });
    await call.over;
    // A busy machine is late, and its lateness counts twenty times.
    expect(call.durationSeconds).toBeGreaterThanOrEqual(2);
    expect(call.durationSeconds).toBeLessThan(60);
  });
});

describe('playback of the simulated carrier', () => {
  it('the simulated carrier clears audio that was not heard, and returns all of its marks at once', async () => {
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

  it('the simulated carrier returns marks late and twice when it is configured to', async () => {
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
