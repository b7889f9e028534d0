import { describe, expect, it } from 'vitest';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { createTurnBilling } from '../../../../src/voice/billing/bill-turn.ts';
import { liveTurnCap } from '../../../../src/voice/billing/turn-meter.ts';
import type { AnswerReceipt } from '../../../../src/voice/session/answer-request.ts';
import type { FinishedAnswer } from '../../../../src/voice/session/answering.ts';
import { DEFAULT_CONFIG } from '../../../../src/voice/session/session-config.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { openSession, RATE } from '../../../support/realtime-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';
import { AGENT } from '../../../support/voice-world.ts';

describe('billing a turn', () => {
  it('a voice session journals each turn before the client receives its end, and settles the sum of the turns in one charge', async () => {
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

  it('a voice session holds the next turn after each one, shortened to the balance, and ends when the shortest does not fit', async () => {
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

  it('a voice session bills speech that got no answer as a charge of its own', async () => {
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

describe('the receipt of a live turn', () => {
  /** What a client is told of 1,000 ms heard and spoken, where the source has these rates. */
  async function soundOf(rates: Source['rates']) {
    const source: Source = {
      rail: 'self-host',
      provider: 'local',
      upstreamModel: 'm',
      rates,
      marginBps: 0,
    };
    const cap = liveTurnCap({ contextWindow: 1_000 } as Model, source);
    const billing = createTurnBilling({
      cap: { ...cap, mostOutputTokens: cap.outputTokens },
      sessionHolds: { journal: async () => 'written', makeWhole: async () => ({ kind: 'lost' }) },
      pipeline: { reserves: () => ({}), takeBill: () => [{ source, usage: {} }] },
      config: () => DEFAULT_CONFIG,
      tally: { heard() {}, stage() {}, turnEnded() {} },
      clock: new ManualClock(),
    });
    let receipt: AnswerReceipt | undefined;
    const outcome = { textIn: 1, textOut: 1, cachedIn: 0, spokenMs: 1_000, spokenChars: 9 };
    const answer = {
      done(given: AnswerReceipt | undefined) {
        receipt = given;
      },
    };
    await billing.bill({ answer, outcome } as unknown as FinishedAnswer, 1_000, false);
    return {
      capsSound: cap.capsSound,
      heard: receipt?.tokens.heard,
      spoken: receipt?.tokens.spoken,
    };
  }

  it('the receipt of a live turn counts audio when input or output is billed by the token, bounded by what is spoken', async () => {
    const counted = { heard: 10, spoken: 20 };
    expect(await soundOf({ audio_input_token: 1n })).toEqual({ capsSound: false, ...counted });
    expect(await soundOf({ audio_output_token: 1n })).toEqual({ capsSound: true, ...counted });
    expect(await soundOf({ audio_second: 1n })).toEqual({ capsSound: false, heard: 0, spoken: 0 });
  });
});
