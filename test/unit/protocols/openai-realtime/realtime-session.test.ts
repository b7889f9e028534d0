import { describe, expect, it } from 'vitest';
import { openRealtime } from '../../../../src/protocols/openai-realtime/realtime-session.ts';
import { openSession, RATE, response } from '../../../support/realtime-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';
import { AGENT, type SentEvent, settleAll } from '../../../support/voice-world.ts';

describe('a realtime session', () => {
  it('a realtime session finishes the running turn, then closes 1012 when the server shuts down', async () => {
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
    expect(socket.closed?.code).toBe(1012);
    expect(deps.sessions.size).toBe(0);
  });

  it('a realtime session answers a caller who is speaking when the server shuts down', async () => {
    const { ledger, session, socket, speak } = await openSession();
    await speak(tone(1_000, RATE));
    session.drain();
    expect(socket.closed).toBeUndefined();
    await speak(tone(500, RATE));
    await speak(silence(900, RATE));
    await session.settled;
    expect(response(socket.of('response.done')[0])).toMatchObject({ status: 'completed' });
    expect(socket.closed?.code).toBe(1012);
    expect([ledger.openHolds(), ledger.charges.length]).toEqual([0, 1]);
  });

  it('a realtime session ends at once when the server shuts down and the caller is silent', async () => {
    const { session, socket, speak } = await openSession();
    await speak(silence(1_000, RATE));
    session.drain();
    await session.settled;
    expect(socket.closed?.code).toBe(1012);
  });

  it('a realtime session waits for the charge of a payment in progress, but not once the session is abandoned', async () => {
    const unknown = new Promise<void>(() => {});
    const { ledger, session, say } = await openSession({
      open: (deps, input) =>
        openRealtime(deps, {
          ...input,
          pipeline: { ...input.pipeline, paymentsKnown: () => unknown },
        }),
    });
    await say('hello');
    session.socketClosed();
    await settleAll();
    expect(ledger.openHolds()).toBe(1);
    session.abandon();
    await session.settled;
    expect([ledger.openHolds(), ledger.charges.length]).toEqual([0, 1]);
  });

  it('a realtime session charges speech that was heard but not yet billed when the client leaves', async () => {
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

  it('a realtime session tells the guide model the balance after its charges so far', async () => {
    const { engines, ledger, say } = await openSession();
    await say('hello');
    await say('what is my balance');
    const [first, second] = engines.guide.asked.map(({ facts }) => facts);
    expect(first).toMatchObject({ spendableRaw: 10_000_000n, heldRaw: 0n, spentRaw: 0n });
    const spentRaw = second?.spentRaw ?? 0n;
    expect(spentRaw).toBeGreaterThan(0n);
    expect(second).toMatchObject({ spendableRaw: 10_000_000n - spentRaw, heldRaw: 0n });
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
  });

  it('a realtime session closes without settling when another process has taken it over', async () => {
    const { ledger, session, socket, say } = await openSession();
    ledger.takeOver('sess_test');
    await say('hello');
    await session.settled;
    expect(socket.closed?.code).toBe(1011);
    expect(socket.of('response.done')).toEqual([]);
    expect(ledger.charges).toEqual([]);
  });

  it('a realtime session closes 1000 after a quarter of an hour without an event', async () => {
    const { clock, session, socket } = await openSession();
    clock.advance(899_999);
    expect(socket.closed).toBeUndefined();
    clock.advance(1);
    await session.settled;
    expect(socket.closed).toEqual({ code: 1000, reason: 'idle' });
  });

  it('a realtime session begins with its session and its conversation, which its responses name', async () => {
    const { socket, say } = await openSession();
    expect(socket.types()).toEqual(['session.created', 'conversation.created']);
    const { id } = (socket.events[1] as SentEvent).conversation as { id: string };
    await say('hello');
    expect(socket.of('response.done')[0]?.response).toMatchObject({
      conversation_id: id,
      usage: {
        input_token_details: {
          text_tokens: 1,
          audio_tokens: 0,
          image_tokens: 0,
          cached_tokens: 0,
          cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
        },
        output_token_details: { text_tokens: 6, audio_tokens: expect.any(Number) },
      },
    });
  });

  it('a transcription session transcribes and bills, and never answers', async () => {
    const { engines, ledger, session, send, socket, speak } = await openSession({
      session: { type: 'transcription' },
    });
    engines.stt.pocketsphinx.script.push('a note to myself');
    await speak(tone(1_000, RATE));
    await speak(silence(900, RATE));
    expect(socket.of('conversation.item.input_audio_transcription.completed')[0]).toMatchObject({
      transcript: 'a note to myself',
      usage: { type: 'duration', seconds: expect.any(Number) },
    });
    send({ type: 'response.create' });
    expect(socket.of('error')).toHaveLength(1);
    expect([engines.guide.asked, socket.of('response.created')]).toEqual([[], []]);
    session.socketClosed();
    await session.settled;
    expect(ledger.charges[0]?.usage).toEqual({ audio_second: expect.any(Number) });
  });

  it.each(['audio/pcmu', 'audio/pcma'])(
    'a realtime session receives and sends %s, one byte a sample',
    async (type) => {
      const { engines, send, socket, say } = await openSession();
      send({
        type: 'session.update',
        session: {
          audio: {
            input: { format: { type }, turn_detection: null },
            output: { format: { type } },
          },
        },
      });
      // 500 ms of 8 kHz; in these codings 0xff and 0xd5 are silence, and 0x00 is as loud as can be.
      const audio = Buffer.alloc(4_000).toString('base64');
      send({ type: 'input_audio_buffer.append', audio });
      send({ type: 'input_audio_buffer.commit' });
      await say('hello');
      // What fills no whole 20 ms frame yet belongs to what comes next.
      expect(engines.stt.pocketsphinx.heardSamples).toBeGreaterThan(7_600);
      expect(engines.stt.pocketsphinx.heardSamples).toBeLessThanOrEqual(8_000);
      const bytes = socket
        .of('response.output_audio.delta')
        .reduce((sum, { delta }) => sum + Buffer.from(String(delta), 'base64').length, 0);
      expect(bytes).toBe(600 * 8);
    },
  );
});

describe('the summary of a realtime session', () => {
  it('the summary of a realtime session has its turns, its interruptions, and its stages to the millisecond', async () => {
    const { clock, engines, ledger, send, session, socket, speak } = await openSession();
    await speak(tone(1_000, RATE));
    await speak(silence(900, RATE));
    await speak(tone(600, RATE));
    const spoken = socket.of('response.done')[0]?.response as { output: { id: string }[] };
    send({
      type: 'conversation.item.truncate',
      item_id: spoken.output[0]?.id,
      content_index: 0,
      audio_end_ms: 100,
    });
    engines.guide.thinking = async () => clock.advance(70);
    await speak(silence(900, RATE));
    session.socketClosed();
    await session.settled;
    const [summary] = ledger.summaries;
    expect(ledger.summaries).toHaveLength(1);
    expect(summary).toMatchObject({
      turns: 2,
      interruptions: 1,
      jitterMaxMs: 70,
      underruns: 0,
      stages: {
        final: { count: 2 },
        reply: { count: 2, maxMs: 70 },
        first_audio: { count: 2, maxMs: 70 },
        answer: { count: 2 },
        journal: { count: 2 },
      },
    });
    // One of two answers took 70 ms after its transcript, the other none.
    const { answer, final } = summary?.stages ?? {};
    expect((answer?.meanMs ?? 0) - (final?.meanMs ?? 0)).toBe(35);
    const usage = ledger.charges[0]?.usage ?? {};
    expect(summary?.heardSeconds).toBe(usage.audio_second);
    expect(summary?.spokenSeconds).toBeGreaterThan(0);
  });
});
