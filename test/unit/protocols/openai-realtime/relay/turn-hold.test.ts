import { describe, expect, it } from 'vitest';
import type { OpenSessionVerdict } from '../../../../../src/ledger/rules/ledger.ts';
import type { FakeLedger } from '../../../../support/fake-ledger.ts';
import { usageOf } from '../../../../support/realtime-upstream.ts';
import { startRelaySession } from '../../../../support/relay-session-world.ts';
import { LEAST_TURN_RAW, TIME_RATES, TURN_RAW } from '../../../../support/relay-world.ts';
import { policyOf } from '../../../../support/spending.ts';
import { AGENT, settleAll } from '../../../../support/voice-world.ts';

/** A cap on all that is held, which suspends its agent. Returns the requested amounts, with a mark at those that are not quiet. */
function cap(ledger: FakeLedger, capRaw: bigint) {
  const asked: string[] = [];
  const { extend, openSession } = ledger;
  const refusal = (wantedRaw: bigint, heldRaw: bigint, isQuiet = false) => {
    asked.push(`${wantedRaw}${isQuiet ? '' : '!'}`);
    if (wantedRaw + heldRaw <= capRaw) return undefined;
    const breach = { policy: policyOf(), requiredRaw: wantedRaw, spentRaw: heldRaw, capRaw };
    const room = { breach, availableRaw: capRaw - heldRaw, suspended: !isQuiet };
    const refused = { kind: 'refused', refusal: { reason: 'cap_exceeded', ...room } } as const;
    return refused satisfies OpenSessionVerdict;
  };
  ledger.openSession = async (request) =>
    refusal(request.reserveRaw, 0n, request.isQuiet) ?? openSession(request);
  ledger.extend = async (claim, byRaw, isQuiet) =>
    refusal(byRaw, claim.hold.amountRaw, isQuiet) ?? extend(claim, byRaw, isQuiet);
  return asked;
}

async function startUnder(capRaw: bigint, rates = {}) {
  let asked: string[] = [];
  const bind = (ledger: FakeLedger) => {
    asked = cap(ledger, capRaw);
  };
  const session = await startRelaySession({ bind, ...rates });
  return { ...session, asked };
}

/** Sound of so many tokens, 50 ms each. */
const spoken = (tokens: number) => ({
  type: 'response.output_audio.delta',
  delta: 'A'.repeat(tokens * 3_200),
});
/** Sound of so many tokens, 100 ms each. */
const said = (tokens: number) =>
  Buffer.from(`{"type":"input_audio_buffer.append","audio":"${'A'.repeat(tokens * 6_400)}"}`);

describe('the turns of a relayed session under a cap', () => {
  it('the turns of a relayed session are held up to the cap, and suspend no agent when a smaller turn fits', async () => {
    const { asked, client, ledger, sessionHold, session, upstream } = await startUnder(600n);
    expect(asked).toEqual([`${TURN_RAW}`, '600']);
    upstream.begin('r1');
    await settleAll();
    upstream.finish('r1', usageOf({ audioIn: 20, audioOut: 30 }));
    await settleAll();
    expect(asked.some((ask) => ask.endsWith('!'))).toBe(false);
    expect([sessionHold.heldRaw, sessionHold.spentRaw, client.closed]).toEqual([
      600n,
      80n,
      undefined,
    ]);
    session.socketClosed();
    await session.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(80n);
  });

  it('the turns of a relayed session are refused, and suspend the agent, when not even the smallest fits', async () => {
    let asked: string[] = [];
    const bind = (ledger: FakeLedger) => {
      asked = cap(ledger, LEAST_TURN_RAW - 1n);
    };
    await expect(startRelaySession({ bind })).rejects.toThrow('the reserve fits');
    expect(asked).toEqual([`${TURN_RAW}`, `${LEAST_TURN_RAW}!`]);
  });

  it('a relayed session ends when an answer reaches the end of its hold', async () => {
    const { client, ledger, session, upstream } = await startUnder(600n);
    const audio = 'A'.repeat(200_000);
    session.frame(Buffer.from(`{"type":"input_audio_buffer.append","audio":"${audio}"}`), false);
    upstream.begin('r1');
    await settleAll();
    // 600 raw: 100 tokens spoken after 400 heard.
    upstream.say(spoken(100));
    expect(client.closed).toBeUndefined();
    upstream.say(spoken(1));
    expect(client.closed).toMatchObject({ code: 1008 });
    expect(upstream.sent.slice(1)).toEqual(['{"type":"response.cancel","response_id":"r1"}']);
    upstream.finish('r1', usageOf({ audioIn: 400, audioOut: 101 }));
    await session.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(600n);
    expect(ledger.shortfalls.get('shortfall:acme')).toBe(2n);
  });

  it("a relayed session ends at the end of its hold also when the upstream's frames do not begin with their type", async () => {
    const { client, upstream } = await startUnder(600n);
    upstream.begin('r1');
    await settleAll();
    const { type, delta } = spoken(101);
    upstream.say({ delta, type });
    expect(client.closed).toMatchObject({ code: 1008 });
  });

  it('a relayed session ends when the caller says more than the hold covers, in audio or in text', async () => {
    for (const frame of [said(401), Buffer.from(JSON.stringify({ text: 'x'.repeat(1_610) }))]) {
      const { client, session, upstream } = await startUnder(600n);
      upstream.begin('r1');
      await settleAll();
      session.frame(frame, false);
      expect(client.closed).toMatchObject({ code: 1008 });
    }
  });

  it('the turns of a relayed session have their full length again when the cap allows more', async () => {
    const { client, ledger, sessionHold, upstream } = await startRelaySession({ creditRaw: 600n });
    expect(sessionHold.heldRaw).toBe(600n);
    await ledger.credit({ agentId: AGENT, amountRaw: 100_000n, reference: 'more' });
    upstream.begin('r1');
    await settleAll();
    upstream.say(spoken(1_000));
    expect([sessionHold.heldRaw, client.closed]).toEqual([TURN_RAW, undefined]);
  });
});

describe('a relayed session that is billed by its time under a cap', () => {
  it('a time-billed relayed session holds what fits the cap, and suspends its agent only when ten seconds do not fit', async () => {
    const { asked, client, clock, session } = await startUnder(25n, { rates: TIME_RATES });
    expect(asked).toEqual(['30', '25']);
    for (let second = 0; second < 20; second++) {
      clock.advance(1_000);
      await settleAll();
    }
    await session.settled;
    // After twenty seconds there are five left.
    expect(client.closed).toMatchObject({ code: 1008 });
    expect(asked.filter((ask) => ask.endsWith('!'))).toEqual(['6!']);
  });
});
