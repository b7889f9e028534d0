import { describe, expect, it } from 'vitest';
import { MACHINE_LIMITS } from '../../../../../machines/limits.ts';
import type { RateTexts } from '../../../../../src/models/catalogue/builtin/builtin-model.ts';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { REALTIME_LIMITS } from '../../../../../src/protocols/openai-realtime/limits.ts';
import { VOICE_LIMITS } from '../../../../../src/voice/limits.ts';
import type { ManualClock } from '../../../../support/manual-clock.ts';
import { usageOf } from '../../../../support/realtime-upstream.ts';
import { startRelaySession } from '../../../../support/relay-session-world.ts';
import {
  LEAST_TURN_RAW,
  TIME_RATES,
  TOKEN_RATES,
  TURN_RAW,
} from '../../../../support/relay-world.ts';
import { AGENT, settleAll } from '../../../../support/voice-world.ts';

const start = (rates?: RateTexts, creditRaw?: bigint) =>
  startRelaySession({ ...(rates && { rates }), ...(creditRaw && { creditRaw }) });

const cancelOf = (id: string) => `{"type":"response.cancel","response_id":"${id}"}`;
const APPEND = Buffer.from('{"type":"input_audio_buffer.append","audio":"AAAA"}');
/** A hundred seconds of the slowest sound. */
const SPOKEN = Buffer.from(
  `{"type":"input_audio_buffer.append","audio":"${'A'.repeat(1_000_000)}"}`,
);
const seconds = async (clock: ManualClock, count: number) => {
  for (let n = 0; n < count; n++) {
    clock.advance(1_000);
    await settleAll();
  }
};

describe('a relayed session', () => {
  it('a relayed session waits for the usage of a turn whose client left in the middle of it', async () => {
    const { ledger, session, upstream } = await start();
    upstream.begin('r1');
    session.socketClosed();
    await settleAll();
    expect([upstream.sent, upstream.isClosed]).toEqual([[cancelOf('r1')], false]);
    upstream.finish('r1', usageOf({ audioOut: 30 }));
    await session.settled;
    expect([ledger.consumedRaw(AGENT), upstream.isClosed]).toEqual([60n, true]);
  });

  it('a relayed session stops waiting for usage after the limit, and estimates the turn', async () => {
    const { clock, ledger, session, upstream } = await start();
    upstream.begin('r1');
    upstream.say({ type: 'response.output_audio.delta', delta: 'A'.repeat(128_000) });
    session.socketClosed();
    clock.advance(MACHINE_LIMITS.relay.finishMs - 1);
    await settleAll();
    expect(ledger.openHolds()).toBe(1);
    clock.advance(1);
    await session.settled;
    expect(ledger.charges).toMatchObject([
      { costRaw: 82n, usage: { audio_output_token: 41, estimated: 1 } },
    ]);
  });

  it('a relayed session whose client left cancels every turn by its id, and estimates them from the relayed audio', async () => {
    const { clock, ledger, session, upstream } = await start();
    for (const id of ['r1', 'r2', 'r3']) upstream.begin(id);
    await settleAll();
    // More sound than one turn may have: 1,024 tokens of 50 ms.
    const delta = 'A'.repeat(60 * REALTIME_LIMITS.soundBytesPerSecond);
    upstream.say({ type: 'response.output_audio.delta', delta });
    session.socketClosed();
    expect(upstream.sent).toEqual(['r1', 'r2', 'r3'].map(cancelOf));
    clock.advance(MACHINE_LIMITS.relay.finishMs);
    await session.settled;
    const [charge] = ledger.charges;
    expect(charge?.usage).toMatchObject({ estimated: 1, audio_output_token: 1_201 });
    expect(charge?.costRaw).toBe(2_402n);
  });

  it('a relayed session charges an open turn when the upstream closes with a code that the client can cause', async () => {
    for (const code of [1003, 1007, 1008, 1009]) {
      const { ledger, session, upstream } = await start();
      upstream.begin('r1');
      upstream.say({ type: 'response.output_audio.delta', delta: 'A'.repeat(128_000) });
      upstream.leave(code);
      await session.settled;
      expect(ledger.charges).toMatchObject([{ costRaw: 82n, usage: { estimated: 1 } }]);
    }
  });

  it('a relayed session charges each turn once when the upstream closes while another turn is being journaled', async () => {
    const { ledger, session, upstream } = await start({ request: '2000' });
    for (const id of ['r1', 'r2']) upstream.begin(id);
    for (const id of ['r1', 'r2']) upstream.finish(id, usageOf({ audioOut: 100 }));
    upstream.leave(1008);
    await session.settled;
    expect(ledger.charges).toMatchObject([{ costRaw: 4_000n, usage: { request: 2 } }]);
    expect(ledger.charges[0]?.usage.estimated).toBeUndefined();
  });

  it('a relayed session keeps frames for a slow client, in order and to the end', async () => {
    const { client, ledger, session, upstream } = await start();
    const received = () => client.types().slice(0, 4);
    client.bufferedAmount = VOICE_LIMITS.relay.frameBytes;
    upstream.begin('r1');
    for (const delta of ['a', 'b']) upstream.say({ type: 'response.output_text.delta', delta });
    upstream.finish('r1', usageOf({ audioOut: 30 }));
    upstream.leave(1006);
    await settleAll();
    expect([received(), client.closed]).toEqual([['response.created'], undefined]);
    client.bufferedAmount = 0;
    session.drained();
    await session.settled;
    const delta = 'response.output_text.delta';
    expect(received()).toEqual(['response.created', delta, delta, 'response.done']);
    expect(ledger.consumedRaw(AGENT)).toBe(60n);
  });

  it('a relayed session bills no time after its upstream closed while the client is behind, and sends the upstream no more', async () => {
    const { client, clock, ledger, session, upstream } = await start(TIME_RATES);
    await seconds(clock, 25);
    client.bufferedAmount = VOICE_LIMITS.relay.frameBytes;
    for (const id of ['r1', 'r2']) upstream.begin(id);
    upstream.leave(1006);
    await seconds(clock, 15);
    session.frame(APPEND, false);
    client.bufferedAmount = 0;
    session.drained();
    await session.settled;
    expect([ledger.consumedRaw(AGENT), ledger.openHolds(), upstream.sent]).toEqual([25n, 0, []]);
  });

  it('a relayed session that disconnects a slow client charges the turns in its queued frames', async () => {
    const { client, clock, ledger, session, upstream } = await start();
    client.bufferedAmount = VOICE_LIMITS.relay.frameBytes;
    for (const id of ['r1', 'r2']) upstream.begin(id);
    for (const id of ['r1', 'r2']) upstream.finish(id, usageOf({ audioOut: 30 }));
    clock.advance(VOICE_LIMITS.relay.stallMs);
    await session.settled;
    expect(client.closed?.code).toBe(1013);
    expect([ledger.consumedRaw(AGENT), ledger.openHolds()]).toEqual([120n, 0]);
  });

  const hear = ({ session, upstream }: Awaited<ReturnType<typeof start>>, id: string) => {
    session.frame(SPOKEN, false);
    upstream.say({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: id,
      usage: { type: 'duration', seconds: 100 },
    });
    return settleAll();
  };

  it('a relayed session tops up the hold of the next turn after every transcript', async () => {
    const world = await start(TOKEN_RATES, TURN_RAW + 2_000n);
    await hear(world, 'i1');
    expect((await world.ledger.funds(AGENT))?.heldRaw).toBe(TURN_RAW + 1_000n);
  });

  it('a relayed session ends after a transcript when not even the smallest turn fits the balance', async () => {
    const world = await start(TOKEN_RATES, LEAST_TURN_RAW + 1_999n);
    const { client, ledger, session } = world;
    await hear(world, 'i1');
    expect(client.closed).toBeUndefined();
    await hear(world, 'i2');
    await session.settled;
    expect(client.closed).toMatchObject({ code: 1008, reason: 'budget_exhausted' });
    expect([ledger.consumedRaw(AGENT), ledger.openHolds()]).toEqual([2_000n, 0]);
  });

  it('a relayed session with a lying upstream pays one slack for ten empty turns, ends, and marks the source distrusted', async () => {
    const { client, distrusted, ledger, session, upstream } = await start();
    for (let turn = 0; turn < 10; turn++) {
      upstream.begin(`r${turn}`);
      upstream.finish(`r${turn}`, usageOf({ textIn: 1_000_000, audioOut: 1_000_000 }));
      await settleAll();
    }
    await session.settled;
    expect(client.closed).toEqual({ code: 1011, reason: 'upstream_distrusted' });
    expect(client.types()).toEqual(['response.created', 'response.done', 'error']);
    // 2,048 tokens of text at a tenth of a raw unit, and 64 of sound at two.
    expect([ledger.consumedRaw(AGENT), ledger.openHolds()]).toEqual([333n, 0]);
    expect(ledger.shortfalls.get('shortfall:acme')).toBe(2_100_000n - 333n);
    expect(distrusted).toEqual(['acme/v']);
  });

  it('a relayed session pays nothing for the turns that a lying upstream sent at once with its first', async () => {
    const { client, ledger, session, upstream } = await start();
    for (let turn = 0; turn < 10; turn++) {
      upstream.begin(`r${turn}`);
      upstream.finish(`r${turn}`, usageOf({ textIn: 1_000_000, audioOut: 1_000_000 }));
    }
    await settleAll();
    await session.settled;
    expect(client.closed).toEqual({ code: 1011, reason: 'upstream_distrusted' });
    expect(ledger.consumedRaw(AGENT)).toBe(333n);
  });

  it('a relayed session with an honest upstream bills spoken, written and reasoned turns as reported', async () => {
    const { client, distrusted, ledger, session, upstream } = await startRelaySession({
      efforts: ['low'],
    });
    const reported = [
      usageOf({ audioOut: 400, textOut: 60 }),
      usageOf({ textIn: 60, audioIn: 400, textOut: 1_000 }),
      usageOf({ textIn: 1_060, audioIn: 400, audioOut: 20, textOut: 900 }),
    ];
    const delta = 'A'.repeat(20 * REALTIME_LIMITS.soundBytesPerSecond);
    for (const [turn, usage] of reported.entries()) {
      upstream.begin(`r${turn}`);
      if (turn === 0) upstream.say({ type: 'response.output_audio.delta', delta });
      upstream.finish(`r${turn}`, usage);
      await settleAll();
    }
    expect(client.closed).toBeUndefined();
    session.socketClosed();
    await session.settled;
    expect([distrusted, ledger.shortfalls.size]).toEqual([[], 0]);
    expect(ledger.consumedRaw(AGENT)).toBe(812n + 606n + 726n);
  });

  it('a relayed session bills the whole of a tool call that an upstream sends in one item without deltas', async () => {
    const { ledger, session, upstream } = await start();
    const item = { type: 'function_call', arguments: 'word '.repeat(500) };
    upstream.begin('r1');
    upstream.say({ type: 'response.output_item.done', item });
    upstream.finish('r1', usageOf({ textOut: 500 }));
    await settleAll();
    session.socketClosed();
    await session.settled;
    expect([ledger.consumedRaw(AGENT), ledger.shortfalls.size]).toEqual([100n, 0]);
  });

  it('a relayed session bills transcripts for no more audio than was relayed', async () => {
    const { ledger, session, upstream } = await start();
    const usage = { type: 'duration', seconds: 80_000 };
    const type = 'conversation.item.input_audio_transcription.completed';
    upstream.say({ type, item_id: 'i1', usage });
    upstream.say({ type, item_id: 'i2', usage });
    session.socketClosed();
    await session.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(BigInt(MODEL_LIMITS.usage.unaskedTokens));
    expect(ledger.shortfalls.get('shortfall:acme')).toBe(
      1_600_000n - BigInt(MODEL_LIMITS.usage.unaskedTokens),
    );
  });

  it("a relayed session closes its client's socket when it ends", async () => {
    const { client, session } = await start();
    session.socketClosed();
    await session.settled;
    expect(client.closed).toBeDefined();
  });

  it('a relayed session charges nothing for a turn whose upstream was lost', async () => {
    const { client, ledger, session, upstream } = await start();
    upstream.begin('r1');
    upstream.leave(1006);
    await session.settled;
    expect(client.closed).toEqual({ code: 1011, reason: 'upstream_closed' });
    expect([ledger.consumedRaw(AGENT), ledger.openHolds()]).toEqual([0n, 0]);
  });

  it('a relayed session reads on only when its client has caught up, and disconnects a client that does not', async () => {
    const { client, clock, session, upstream } = await start();
    client.bufferedAmount = VOICE_LIMITS.relay.unsentBytes + 1;
    upstream.say({ type: 'a' });
    expect(upstream.isPaused).toBe(true);
    clock.advance(VOICE_LIMITS.relay.stallMs - 1);
    client.bufferedAmount = 0;
    session.drained();
    expect(upstream.isPaused).toBe(false);
    clock.advance(VOICE_LIMITS.relay.stallMs);
    expect(client.closed).toBeUndefined();

    client.bufferedAmount = VOICE_LIMITS.relay.unsentBytes + 1;
    upstream.say({ type: 'b' });
    clock.advance(VOICE_LIMITS.relay.stallMs);
    await session.settled;
    expect(client.closed).toEqual({ code: 1013, reason: 'client_too_slow' });
  });

  it('a relayed session disconnects a client whose upstream does not take what the client sends', async () => {
    const { client, session, upstream } = await start();
    upstream.unsentBytes = VOICE_LIMITS.relay.untakenBytes + 1;
    session.frame(APPEND, false);
    await session.settled;
    expect(client.closed).toEqual({ code: 1013, reason: 'upstream_too_slow' });
  });

  it('a relayed session closes 1011 when its queue exceeds the limit while a turn is being journaled', async () => {
    const { client, session, upstream } = await start();
    upstream.begin('r1');
    upstream.finish('r1', usageOf({ audioOut: 5 }));
    expect(upstream.isPaused).toBe(true);
    const frame = { type: 'x', x: 'x'.repeat(1_000_000) };
    for (let n = 0; n < 6; n++) upstream.say(frame);
    await session.settled;
    expect(client.closed).toEqual({ code: 1011, reason: 'internal_error' });
  });

  it('a relayed session ends when its client has sent nothing for too long', async () => {
    const { client, clock, session } = await start();
    clock.advance(VOICE_LIMITS.realtime.idleSeconds * 1_000 - 1);
    session.frame(APPEND, false);
    clock.advance(VOICE_LIMITS.realtime.idleSeconds * 1_000 - 1);
    expect(client.closed).toBeUndefined();
    clock.advance(1);
    await session.settled;
    expect(client.closed).toEqual({ code: 1000, reason: 'idle' });
  });

  it('a relayed session leaves its hold to the process that has taken the session over', async () => {
    const { client, ledger, session, upstream } = await start();
    ledger.takeOver('sess_t');
    upstream.begin('r1');
    upstream.finish('r1', usageOf({ audioOut: 5 }));
    await session.settled;
    expect(client.closed).toEqual({ code: 1011, reason: 'settled elsewhere' });
    expect([upstream.isClosed, ledger.charges]).toEqual([true, []]);
  });

  it('a relayed session closes with too_many_responses when more responses than allowed run at once', async () => {
    const { client, upstream } = await start(TOKEN_RATES, TURN_RAW * 100n);
    for (let n = 0; n <= VOICE_LIMITS.relay.responses; n++) upstream.begin(`r${n}`);
    await settleAll();
    expect(client.closed).toEqual({ code: 1008, reason: 'too_many_responses' });
  });

  it('a relayed session that ends forwards nothing more to its client or its upstream', async () => {
    const { client, session, upstream } = await start();
    upstream.begin('r1');
    session.socketClosed();
    upstream.say({ type: 'late' });
    session.frame(APPEND, false);
    expect(client.types()).toEqual(['response.created']);
    expect(upstream.sent).toEqual([cancelOf('r1')]);
  });
});

describe('a relayed session that is billed by its time', () => {
  it('a relayed session that is billed by time charges its duration to the millisecond, and no tokens', async () => {
    const { clock, ledger, session, upstream } = await start(TIME_RATES);
    upstream.begin('r1');
    upstream.finish('r1', usageOf({ audioOut: 5_000 }));
    await seconds(clock, 64);
    clock.advance(250);
    session.socketClosed();
    await session.settled;
    expect(ledger.charges).toMatchObject([{ costRaw: 65n, usage: { audio_second: 64.25 } }]);
    expect(ledger.openHolds()).toBe(0);
  });

  it('a relayed session that is billed by time ends before it outlasts its hold', async () => {
    const { client, clock, ledger, session } = await start(TIME_RATES, 55n);
    await seconds(clock, 60);
    await session.settled;
    expect(client.closed).toEqual({ code: 1008, reason: 'budget_exhausted' });
    // After fifty there is less left than for the next ten seconds and the settlement.
    expect(ledger.consumedRaw(AGENT)).toBe(50n);
    expect(ledger.shortfalls.size).toBe(0);
  });
});

describe('the summary of a relayed session', () => {
  it('the summary of a relayed session counts its turns, its interruptions, and how long a held frame waited', async () => {
    const { clock, ledger, session, upstream } = await start();
    const { journal } = ledger;
    ledger.journal = async (claim, entries) => {
      clock.advance(30);
      return journal(claim, entries);
    };
    session.frame(APPEND, false);
    upstream.say({ type: 'input_audio_buffer.speech_stopped' });
    clock.advance(200);
    upstream.begin('r1');
    upstream.say({ type: 'response.output_audio.delta', delta: 'A'.repeat(6_400) });
    upstream.finish('r1', usageOf({ audioOut: 30 }));
    upstream.begin('r2');
    upstream.say({ type: 'response.output_audio.delta', delta: 'A'.repeat(6_400) });
    await settleAll();
    upstream.say({ type: 'response.done', response: { id: 'r2', status: 'cancelled' } });
    await settleAll();
    session.socketClosed();
    await session.settled;
    expect(ledger.summaries).toMatchObject([
      {
        turns: 2,
        interruptions: 1,
        spokenSeconds: 0.2,
        underruns: 0,
        stages: {
          answer: { count: 1, meanMs: 200 },
          forward: { count: 2, maxMs: 30 },
          journal: { count: 2, maxMs: 30 },
        },
      },
    ]);
  });
});
