import { describe, expect, it } from 'vitest';
import { MACHINE_LIMITS } from '../../../../machines/limits.ts';
import { startLiveRelay, UPSTREAM_SESSION } from '../../../support/live-relay-world.ts';
import { AGENT, settleAll } from '../../../support/voice-world.ts';

const DELTA = { type: 'session.output_audio.delta', delta: 'AAAA' };
const usageOf = (event: unknown) =>
  (event as { usage: { seconds: number; cost_raw: string } } | undefined)?.usage;

describe('a live session at an upstream', () => {
  it("a relayed live session is started under the upstream's model name, and shown under the catalogue's", async () => {
    const { begin, client, upstream } = await startLiveRelay();
    await begin();
    expect(JSON.parse(upstream.sent[0] ?? '')).toEqual({
      type: 'session.start',
      event_id: 'start-1',
      session: { model: 'live-1', instructions: 'Be brief.' },
    });
    expect(client.events).toEqual([
      {
        type: 'session.started',
        event_id: 'e1',
        session: { ...UPSTREAM_SESSION, model: 'acme/live' },
      },
    ]);
  });

  it('a relayed live session states in each report what is billed, and charges the last one', async () => {
    const { begin, client, close, ledger, pass, report, send, session } = await startLiveRelay();
    await begin();
    await pass(4);
    report(3.5);
    await settleAll();
    expect(usageOf(client.of('session.usage.updated')[0])).toEqual({ seconds: 3.5, cost_raw: '4' });
    await pass(3);
    send({ type: 'session.close' });
    close(6.25);
    await session.settled;
    expect(client.of('session.closed')).toMatchObject([
      { reason: 'close_requested', usage: { seconds: 6.25, cost_raw: '7' } },
    ]);
    expect(ledger.charges).toMatchObject([
      { costRaw: 7n, usage: { audio_second: 6.25 }, status: 'success' },
    ]);
    expect([ledger.consumedRaw(AGENT), ledger.openHolds(), client.closed?.code]).toEqual([
      7n,
      0,
      1000,
    ]);
  });

  it('a relayed live session requests the final count of the upstream when the client leaves, and charges that', async () => {
    const { begin, close, ledger, pass, session, upstream } = await startLiveRelay();
    await begin();
    await pass(10);
    session.socketClosed();
    await settleAll();
    expect([upstream.sent.at(-1), upstream.isClosed]).toEqual(['{"type":"session.close"}', false]);
    close(9.5);
    await session.settled;
    expect([ledger.consumedRaw(AGENT), upstream.isClosed]).toEqual([10n, true]);
    expect(ledger.charges).toMatchObject([{ usage: { audio_second: 9.5 } }]);
  });

  it('a relayed live session charges the time until its client left when the upstream sends no final count', async () => {
    const { begin, clock, ledger, pass, session } = await startLiveRelay();
    await begin();
    await pass(10);
    session.socketClosed();
    clock.advance(MACHINE_LIMITS.relay.finishMs);
    await session.settled;
    expect(ledger.charges).toMatchObject([{ costRaw: 10n, usage: { audio_second: 10 } }]);
  });

  it('a relayed live session charges what an upstream delivered that breaks off, up to its last frame', async () => {
    const { begin, client, clock, ledger, pass, session, upstream } = await startLiveRelay();
    await begin();
    await pass(5);
    upstream.say(DELTA);
    clock.advance(900);
    upstream.leave(1006);
    await session.settled;
    expect(client.types().slice(-2)).toEqual(['error', 'session.closed']);
    expect(client.of('session.closed')).toMatchObject([
      { reason: 'connection_lost', usage: { seconds: 5, cost_raw: '5' } },
    ]);
    expect(ledger.charges).toMatchObject([{ costRaw: 5n, status: 'failed' }]);
    expect(client.closed?.code).toBe(1011);
  });

  it('a relayed live session charges nothing when the upstream never started it', async () => {
    const { client, ledger, pass, session, upstream } = await startLiveRelay();
    upstream.say({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'no', message: '' },
    });
    await pass(2);
    upstream.leave(1008);
    await session.settled;
    expect([ledger.consumedRaw(AGENT), ledger.openHolds(), ledger.charges]).toEqual([0n, 0, []]);
    expect(client.of('error').length).toBeGreaterThan(0);
  });

  it('a relayed live session ends before its hold is used up when the balance is, with the reason and the final count', async () => {
    const { begin, client, close, ledger, pass, session, upstream } = await startLiveRelay({
      creditRaw: 30n,
    });
    await begin();
    await pass(24);
    expect(client.of('error')).toEqual([]);
    await pass(1);
    expect(client.of('error')).toMatchObject([
      { error: { type: 'insufficient_quota', code: 'budget_exhausted' } },
    ]);
    expect([client.closed, upstream.sent.at(-1)]).toEqual([undefined, '{"type":"session.close"}']);
    close(25.5);
    await session.settled;
    expect(client.of('session.closed')).toMatchObject([
      { reason: 'expired', usage: { seconds: 25.5, cost_raw: '26' } },
    ]);
    expect(client.closed?.code).toBe(1008);
    expect(ledger.consumedRaw(AGENT)).toBe(26n);
  });

  it('a relayed live session holds more as time passes, however seldom the upstream reports', async () => {
    const { begin, client, close, ledger, pass, session, sessionHold } = await startLiveRelay();
    await begin();
    for (let n = 0; n < 100; n++) {
      await pass(1);
      expect(Number(sessionHold.heldRaw)).toBeGreaterThanOrEqual(
        n + 1 + MACHINE_LIMITS.relay.finishMs / 1_000,
      );
    }
    expect(client.of('error')).toEqual([]);
    session.socketClosed();
    close(100);
    await session.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(100n);
  });

  it('a relayed live session ends when its agent is refused while the session lasts', async () => {
    const { begin, client, close, ledger, pass, session } = await startLiveRelay();
    await begin();
    ledger.refuse(AGENT, { reason: 'agent_unknown' });
    await pass(30);
    close(20);
    await session.settled;
    expect(client.of('error')).toHaveLength(1);
    expect(client.closed?.code).toBe(1008);
    expect(ledger.openHolds()).toBe(0);
  });

  it('a relayed live session ends with what was billed when another process has settled it', async () => {
    const { begin, client, ledger, pass, report, session } = await startLiveRelay();
    await begin();
    await pass(1);
    report(1);
    await settleAll();
    ledger.takeOver('sess_t');
    await pass(2);
    report(3);
    await session.settled;
    await settleAll();
    expect(client.closed?.code).toBe(1011);
    expect(client.of('session.closed').map(usageOf)).toEqual([{ seconds: 1, cost_raw: '1' }]);
  });

  it('a relayed live session ends at once when the server shuts down, and charges the final count', async () => {
    const { begin, client, close, ledger, pass, session } = await startLiveRelay();
    await begin();
    await pass(3);
    session.drain();
    close(2.5);
    await session.settled;
    expect(client.of('session.closed')).toMatchObject([
      { reason: 'connection_lost', usage: { seconds: 2.5 } },
    ]);
    expect([client.closed?.code, ledger.consumedRaw(AGENT)]).toEqual([1012, 3n]);
  });

  it('a relayed live session forwards audio while a report is being journaled', async () => {
    const world = await startLiveRelay();
    let journaled = () => {};
    const { journal } = world.ledger;
    world.ledger.journal = async (...args) => {
      await new Promise<void>((resolve) => {
        journaled = resolve;
      });
      return journal(...args);
    };
    await world.begin();
    await world.pass(1);
    world.report(1);
    world.upstream.say(DELTA);
    await settleAll();
    expect(world.client.types()).toEqual(['session.started', 'session.output_audio.delta']);
    journaled();
    await settleAll();
    expect(world.client.types().at(-1)).toBe('session.usage.updated');
  });

  it('a relayed live session reports the journaled cost when another process settled it before the last report', async () => {
    const { begin, client, ledger, pass, report, session, upstream } = await startLiveRelay();
    await begin();
    await pass(1);
    report(1);
    await settleAll();
    ledger.takeOver('sess_t');
    await pass(2);
    upstream.say(DELTA);
    upstream.leave(1006);
    await session.settled;
    await settleAll();
    expect(client.of('session.closed').map(usageOf)).toEqual([{ seconds: 1, cost_raw: '1' }]);
  });

  for (const last of ['the same count', 'none', 'the close of the socket'] as const) {
    it(`a relayed live session reports its cost only once the cost is journaled, when ${last} follows a report`, async () => {
      const { begin, client, close, ledger, pass, report, session, upstream } =
        await startLiveRelay();
      await begin();
      await pass(4);
      let journaled = () => {};
      const delay = new Promise<void>((resolve) => {
        journaled = resolve;
      });
      const { journal } = ledger;
      ledger.journal = (...args) => delay.then(() => journal(...args));
      report(3.5);
      if (last === 'the same count') close(3.5);
      if (last === 'none') upstream.say({ type: 'session.usage.updated', usage: null });
      if (last === 'the close of the socket') session.socketClosed();
      await settleAll();
      expect(client.types()).toEqual(['session.started']);
      if (last !== 'the same count') close(3.5);
      await settleAll();
      expect(client.types()).toEqual(['session.started']);
      journaled();
      await session.settled;
      await settleAll();
      const told = client.events.slice(1).map(usageOf);
      expect(told.length).toBeGreaterThan(0);
      for (const usage of told) expect(usage).toEqual({ seconds: 3.5, cost_raw: '4' });
      expect(client.types().at(-1)).toBe('session.closed');
      expect(ledger.consumedRaw(AGENT)).toBe(4n);
    });
  }

  for (const usage of [undefined, null, {}, { seconds: null }, { seconds: -1 }]) {
    it(`a relayed live session bills the time up to an end that states no count (${JSON.stringify(usage)})`, async () => {
      const { begin, client, ledger, pass, report, session, upstream } = await startLiveRelay();
      await begin();
      report(0);
      await pass(20);
      upstream.say({ type: 'session.closed', session: UPSTREAM_SESSION, usage });
      await session.settled;
      expect(client.of('session.closed').map(usageOf)).toMatchObject([
        { seconds: 20, cost_raw: '20' },
      ]);
      expect(ledger.charges).toMatchObject([{ costRaw: 20n, usage: { audio_second: 20 } }]);
    });
  }

  it('a relayed live session bills no time after its client left when its end states no count', async () => {
    const { begin, ledger, pass, session, upstream } = await startLiveRelay();
    await begin();
    await pass(5);
    session.socketClosed();
    await pass(2);
    upstream.say({ type: 'session.closed', session: UPSTREAM_SESSION });
    await session.settled;
    expect(ledger.charges).toMatchObject([{ costRaw: 5n, usage: { audio_second: 5 } }]);
  });

  for (const code of [1000, 1001]) {
    it(`a relayed live session is broken off when its upstream leaves with ${code} before the end of the session`, async () => {
      const { begin, client, ledger, pass, session, upstream } = await startLiveRelay();
      await begin();
      await pass(2);
      upstream.say(DELTA);
      upstream.leave(code, 'close_requested');
      await session.settled;
      expect(client.of('error')).toMatchObject([{ error: { code: 'upstream_closed' } }]);
      expect(client.of('session.closed')).toMatchObject([{ reason: 'connection_lost' }]);
      expect([client.closed?.code, ledger.consumedRaw(AGENT)]).toEqual([1011, 2n]);
    });
  }

  it('a relayed live session closes its client when the ledger does not respond', async () => {
    const world = await startLiveRelay();
    await world.begin();
    await world.pass(2);
    world.upstream.say(DELTA);
    world.ledger.journal = () => new Promise(() => {});
    world.upstream.leave(1006);
    await settleAll();
    expect(world.client.closed).toBeUndefined();
    world.clock.advance(MACHINE_LIMITS.relay.finishMs);
    await settleAll();
    expect(world.client.closed?.code).toBe(1011);
  });

  it("a relayed live session that is paid with the caller's own key takes its fee once", async () => {
    const { begin, close, ledger, pass, report, session } = await startLiveRelay({
      rail: 'byok',
      rates: { request: '250' },
    });
    await begin();
    await pass(40);
    report(40);
    report(41);
    close(41);
    await session.settled;
    expect(ledger.charges).toMatchObject([{ costRaw: 250n, usage: { request: 1 } }]);
  });

  const CUTS = ['started', 'audio', 'report', 'transcript', 'closed'] as const;
  for (const [index, cut] of CUTS.entries()) {
    for (const who of ['upstream', 'client'] as const) {
      it(`a relayed live session settles once, for no more than was delivered, when the ${who} leaves after "${cut}"`, async () => {
        const { begin, client, clock, close, ledger, pass, report, session, upstream } =
          await startLiveRelay();
        const steps = [
          begin,
          () => upstream.say(DELTA),
          () => report(2),
          () => upstream.say({ type: 'session.output_transcript.delta', delta: 'Hi' }),
          () => close(3),
        ];
        for (const step of steps.slice(0, index + 1)) {
          await step();
          await pass(1);
        }
        if (who === 'upstream') upstream.leave(1006);
        else session.socketClosed();
        clock.advance(MACHINE_LIMITS.relay.finishMs);
        await session.settled;
        await settleAll();
        const [charge] = ledger.charges;
        const chargedRaw = charge?.costRaw ?? 0n;
        expect(ledger.charges.length).toBeLessThanOrEqual(1);
        expect([ledger.consumedRaw(AGENT), ledger.openHolds()]).toEqual([chargedRaw, 0]);
        expect(Number(chargedRaw)).toBeLessThanOrEqual(index + 1);
        const told = usageOf(client.of('session.closed').at(-1))?.cost_raw;
        expect(told).toBe(String(chargedRaw));
      });
    }
  }
});
