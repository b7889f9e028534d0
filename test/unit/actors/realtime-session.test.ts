import { describe, expect, it } from 'vitest';
import { openSession, RATE, response } from '../../support/realtime-session.ts';
import { silence, tone } from '../../support/voice-fakes.ts';

describe('RealtimeSession', () => {
  it('finishes the running turn, then closes 1001 when the server shuts down', async () => {
    const { engines, deps, session, socket, say } = await openSession();
    let think = () => {};
    engines.guide.thinking = () =>
      new Promise((resolve) => {
        think = resolve;
      });
    deps.sessions.enter('sess_test', {
      drain: () => session.drain(),
      abandon: () => session.socketClosed(),
    });
    await say('hello');
    const drained = deps.sessions.drain(10_000);
    think();
    await drained;
    expect(response(socket.of('response.done')[0])).toMatchObject({ status: 'completed' });
    expect(socket.closed?.code).toBe(1001);
    expect(deps.sessions.size).toBe(0);
  });

  it('charges speech that was heard but not yet billed when the client leaves', async () => {
    const { engines, ledger, session, speak, say } = await openSession();
    engines.guide.thinking = () => new Promise(() => {});
    await say('hello');
    await speak(tone(1_000, RATE));
    await speak(silence(900, RATE));
    session.socketClosed();
    await session.settled;
    expect(ledger.charges[0]?.usage).toMatchObject({ audio_second: expect.any(Number) });
    expect(ledger.openHolds()).toBe(0);
  });

  it('closes without settling when another process has taken it over', async () => {
    const { ledger, session, socket, say } = await openSession();
    ledger.takeOver('sess_test');
    await say('hello');
    await session.settled;
    expect(socket.closed?.code).toBe(1011);
    expect(socket.of('response.done')).toEqual([]);
    expect(ledger.charges).toEqual([]);
  });

  it('closes 1000 after a quarter of an hour without an event', async () => {
    const { clock, session, socket } = await openSession();
    clock.advance(899_999);
    expect(socket.closed).toBeUndefined();
    clock.advance(1);
    await session.settled;
    expect(socket.closed).toEqual({ code: 1000, reason: 'idle' });
  });
});
