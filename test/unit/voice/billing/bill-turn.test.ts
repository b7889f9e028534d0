import { describe, expect, it } from 'vitest';
import { openSession, RATE } from '../../../support/realtime-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';
import { AGENT } from '../../../support/voice-world.ts';

describe('billing a turn', () => {
  it('journals each turn before the client receives its end, and settles to the sum of the turns in one row', async () => {
    const { ledger, session, socket, say } = await openSession();
    let journaled = 0;
    let sent = 0;
    const { journal } = ledger;
    ledger.journal = async (claim, entries) => {
      sent = Math.max(sent, socket.of('response.done').length);
      journaled += 1;
      return journal(claim, entries);
    };
    await say('one');
    expect([journaled, sent]).toEqual([1, 0]);
    await say('two');
    session.socketClosed();
    await session.settled;
    expect(socket.of('response.done')).toHaveLength(2);
    expect(ledger.charges).toHaveLength(1);
    const [charge] = ledger.charges;
    expect(charge?.costRaw).toBe(ledger.consumedRaw(AGENT));
    expect(charge?.usage).toMatchObject({ character: 2 * 'You said one.Is that so?'.length });
    expect(ledger.openHolds()).toBe(0);
  });

  it('holds the next turn after each one, as long as fits, and ends the session when the shortest does not fit', async () => {
    const probe = await openSession();
    await probe.say('hello');
    probe.session.socketClosed();
    await probe.session.settled;
    const turnRaw = probe.ledger.consumedRaw(AGENT);
    const { ledger, session, socket, say } = await openSession({
      creditRaw: probe.leastRaw + turnRaw,
    });
    await say('hello');
    expect(socket.closed).toBeUndefined();
    await say('hello');
    await session.settled;
    expect(socket.of('response.done')).toHaveLength(2);
    expect(socket.events.at(-1)).toMatchObject({
      type: 'error',
      error: { type: 'insufficient_quota', code: 'budget_exhausted' },
    });
    expect(socket.closed).toEqual({ code: 1008, reason: 'budget_exhausted' });
    expect(ledger.consumedRaw(AGENT)).toBeGreaterThan(turnRaw);
    expect(ledger.charges[0]?.costRaw).toBe(ledger.consumedRaw(AGENT));
    expect(ledger.openHolds()).toBe(0);
  });

  it('bills speech that got no answer by itself', async () => {
    const { ledger, session, send, speak } = await openSession();
    send({
      type: 'session.update',
      session: {
        audio: { input: { turn_detection: { type: 'server_vad', create_response: false } } },
      },
    });
    await speak(tone(1_000, RATE));
    await speak(silence(900, RATE));
    session.socketClosed();
    await session.settled;
    expect(Object.keys(ledger.charges[0]?.usage ?? {})).toEqual(['audio_second']);
  });
});
