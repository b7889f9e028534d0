import { describe, expect, it } from 'vitest';
import type { TranscriptDialect } from '../../../src/actors/transcription/dialect.ts';
import { listenDialect } from '../../../src/actors/transcription/listen-dialect.ts';
import { LocalHearing } from '../../../src/actors/transcription/local-hearing.ts';
import { PLAIN_DIALECT } from '../../../src/actors/transcription/plain-dialect.ts';
import { TranscriptionStream } from '../../../src/actors/transcription-stream.ts';
import { openPurse, sessionPrice } from '../../../src/actors/voice-purse.ts';
import type { SttListener } from '../../../src/engines/engine.ts';
import { assert } from '../../../src/kernel/assert.ts';
import { ManualClock } from '../../../src/kernel/manual-clock.ts';
import { bytesOf, silence, tone } from '../../support/voice-fakes.ts';
import { AGENT, createVoiceWorld, FakeSocket, settleAll } from '../../support/voice-world.ts';

const RATE = 16_000;

const LISTEN = listenDialect(
  {
    ...{ interimResults: true, endpointingMs: 300, utteranceEndMs: undefined },
    ...{ vadEvents: false, punctuated: false },
  },
  {
    ...{ requestId: 'req_1', created: '2026-01-01T00:00:00.000Z' },
    model: { id: 'local/pocketsphinx', arch: 'pocketsphinx', version: 'local' },
  },
);

async function openStream(creditRaw: bigint, dialect: TranscriptDialect = PLAIN_DIALECT) {
  const clock = new ManualClock();
  const world = await createVoiceWorld({ clock, creditRaw });
  const { deps, engines } = world;
  const model = deps.catalogue.find('local/pocketsphinx');
  const source = model?.sources[0];
  assert(source !== undefined, 'the catalogue has the local recogniser');
  const owner = {
    spender: { agentId: AGENT, keyId: 70 },
    sessionId: 'stt_test',
    kind: 'transcription',
    model: 'local/pocketsphinx',
    source,
  } as const;
  const price = (seconds: number) => sessionPrice(source, { audio_second: seconds });
  const opened = await openPurse(deps, owner, price(10));
  assert(opened.kind === 'opened', 'the first slice fits');
  let target: SttListener | undefined;
  const stt = await engines.stt.pocketsphinx.open({
    listener: {
      transcript: (transcript) => target?.transcript(transcript),
      failed: (error) => target?.failed(error),
    },
  });
  const sound = { encoding: 'linear16', sampleRateHz: RATE } as const;
  const hearing = {
    ...{ ...sound, stt, silenceDurationMs: dialect.silenceDurationMs },
    listen: (listener: SttListener) => {
      target = listener;
    },
  };
  const stream = new TranscriptionStream(deps, {
    owner,
    purse: opened.purse,
    ...{ ...sound, dialect, isRelayed: false },
    openHearing: (stage) => new LocalHearing(deps, hearing, stage),
  });
  const socket = new FakeSocket();
  stream.attach(socket);

  /** Real-time pace, 100 ms at a time. */
  async function send(pcm: Int16Array) {
    for (let at = 0; at < pcm.length; at += RATE / 10) {
      stream.audio(bytesOf(pcm.slice(at, at + RATE / 10)));
      clock.advance(100);
      await settleAll();
    }
  }
  return { ...world, clock, stream, socket, send, price };
}

describe('a transcription stream', () => {
  it('tells words while they are spoken and ends the utterance after its silence', async () => {
    const { socket, send } = await openStream(1_000_000n);
    await send(tone(2_000, RATE));
    expect(socket.events.at(-1)).toMatchObject({ type: 'transcript', is_final: false });
    await send(silence(800, RATE));
    const last = socket.events.at(-1);
    expect(last).toMatchObject({ type: 'transcript', is_final: true, speech_final: true });
    expect(last?.text).toMatch(/^w1 w2/);
    expect(last?.latency_ms).toBeLessThanOrEqual(1_000);
  });

  it('charges for exactly the audio that came, in one row, when the client closes', async () => {
    const { ledger, stream, send, price } = await openStream(1_000_000n);
    await send(tone(23_400, RATE));
    stream.socketClosed();
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(price(23.4));
    expect(ledger.charges).toHaveLength(1);
    expect(ledger.charges[0]).toMatchObject({ usage: { audio_second: 23.4 }, status: 'success' });
    expect(ledger.openHolds()).toBe(0);
  });

  it('hears exactly the slices that the balance holds, then says so and closes 1008', async () => {
    const slices = 3n;
    const { ledger, stream, send, socket, price } = await openStream(slices * 105n + 104n);
    expect(price(10)).toBe(105n);
    await send(tone(45_000, RATE));
    await stream.settled;
    expect(socket.closed).toEqual({ code: 1008, reason: 'insufficient_balance' });
    expect(socket.events.at(-1)).toMatchObject({ type: 'error', code: 'insufficient_balance' });
    expect(ledger.consumedRaw(AGENT)).toBe(price(30));
    expect(ledger.openHolds()).toBe(0);
  });

  it('goes on with the slice that was credited while the last one was used up', async () => {
    const { ledger, send, socket } = await openStream(105n);
    await send(tone(9_900, RATE));
    await ledger.credit({ agentId: AGENT, amountRaw: 1_000n, reference: 'late' });
    await send(tone(5_000, RATE));
    expect(socket.closed).toBeUndefined();
  });

  it('keeps half a sample until its other half comes', async () => {
    const { engines, clock, stream } = await openStream(1_000_000n);
    const bytes = bytesOf(tone(1_000, RATE));
    for (let at = 0; at < bytes.length; at += 333) {
      stream.audio(bytes.subarray(at, at + 333));
      clock.advance(10);
      await settleAll();
    }
    stream.finish();
    await stream.settled;
    expect(engines.stt.pocketsphinx.heardSamples).toBeGreaterThanOrEqual(RATE - 320);
  });

  it('takes audio sent at once and hears all of it, slice after slice', async () => {
    const { ledger, stream, socket, price } = await openStream(1_000_000n);
    stream.audio(bytesOf(tone(60_000, RATE)));
    stream.finish();
    await stream.settled;
    expect(socket.closed).toEqual({ code: 1000, reason: 'done' });
    expect(ledger.consumedRaw(AGENT)).toBe(price(60));
  });

  it('cuts off a client that sends further ahead than it may', async () => {
    const { stream, socket } = await openStream(1_000_000n);
    for (let i = 0; i < 13; i++) stream.audio(bytesOf(tone(10_000, RATE)));
    await stream.settled;
    expect(socket.closed?.code).toBe(1008);
    expect(socket.events.at(-1)).toMatchObject({ code: 'audio_too_fast' });
  });

  it('cuts it off just the same when it was silent before', async () => {
    const { clock, stream, socket } = await openStream(1_000_000n);
    clock.advance(59_000);
    for (let i = 0; i < 13; i++) stream.audio(bytesOf(tone(10_000, RATE)));
    await stream.settled;
    expect(socket.events.at(-1)).toMatchObject({ code: 'audio_too_fast' });
  });

  it('sends the last final before it closes 1000 on close_stream', async () => {
    const { stream, send, socket } = await openStream(1_000_000n);
    await send(tone(1_500, RATE));
    stream.finish();
    await stream.settled;
    expect(socket.events.at(-1)).toMatchObject({ is_final: true, speech_final: true });
    expect(socket.closed).toEqual({ code: 1000, reason: 'done' });
  });

  it('settles and closes 1011 when the recogniser gives up', async () => {
    const { ledger, engines, stream, send, socket, price } = await openStream(1_000_000n);
    engines.stt.pocketsphinx.breakAfterSamples = RATE;
    await send(tone(3_000, RATE));
    await stream.settled;
    expect(socket.closed?.code).toBe(1011);
    expect(socket.of('error')).toHaveLength(1);
    expect(ledger.charges[0]?.status).toBe('failed');
    expect(ledger.consumedRaw(AGENT)).toBeLessThanOrEqual(price(3));
    expect([ledger.openHolds(), engines.stt.pocketsphinx.inUse]).toEqual([0, 0]);
  });

  it('closes without settling when another process has taken it over', async () => {
    const { ledger, stream, send, socket } = await openStream(1_000_000n);
    ledger.takeOver('stt_test');
    await send(tone(6_000, RATE));
    await stream.settled;
    expect(socket.closed?.code).toBe(1011);
    expect(ledger.charges).toHaveLength(0);
  });

  it('closes when no audio came for a minute', async () => {
    const { clock, stream, send, socket } = await openStream(1_000_000n);
    await send(tone(1_000, RATE));
    clock.advance(59_000);
    await settleAll();
    expect(socket.closed).toBeUndefined();
    clock.advance(1_000);
    await stream.settled;
    expect(socket.closed).toEqual({ code: 1000, reason: 'no audio' });
  });

  it('takes an empty message for no audio', async () => {
    const { clock, stream, socket } = await openStream(1_000_000n);
    for (let s = 0; s < 60; s += 10) {
      stream.audio(new Uint8Array());
      clock.advance(10_000);
      await settleAll();
    }
    expect(socket.closed?.reason).toBe('no audio');
  });

  it('waits ten seconds for a word in the dialect that has such words, then closes 1011', async () => {
    const { clock, stream, send, socket } = await openStream(1_000_000n, LISTEN);
    await send(tone(1_000, RATE));
    for (const say of [() => stream.word('KeepAlive', ''), () => stream.misunderstood('what?')]) {
      clock.advance(9_000);
      await settleAll();
      say();
    }
    clock.advance(9_900);
    await settleAll();
    expect(socket.closed).toBeUndefined();
    clock.advance(100);
    await stream.settled;
    expect(socket.closed).toMatchObject({ code: 1011, reason: expect.stringMatching(/^NET-0001/) });
    expect(socket.events.at(-1)).toMatchObject({ type: 'Metadata', duration: 1 });
  });

  it('is not kept for ever by words alone', async () => {
    const { clock, stream, socket } = await openStream(1_000_000n, LISTEN);
    for (let s = 0; s < 905 && socket.closed === undefined; s += 5) {
      stream.word('KeepAlive', '');
      clock.advance(5_000);
      await settleAll();
    }
    expect(socket.closed?.code).toBe(1011);
  });

  it('tells a finalized utterance at once and leaves the stream as it was', async () => {
    const { send, socket, stream } = await openStream(1_000_000n, LISTEN);
    await send(tone(1_500, RATE));
    stream.word('Finalize', '');
    await settleAll();
    expect(socket.events.at(-1)).toMatchObject({ from_finalize: true, is_final: true });
    await send(tone(1_000, RATE));
    expect(socket.events.at(-1)).toMatchObject({ from_finalize: false, is_final: false });
  });

  it('settles once, however often it is told that the socket is gone', async () => {
    const { ledger, stream, send } = await openStream(1_000_000n);
    await send(tone(1_000, RATE));
    stream.socketClosed();
    stream.drain();
    stream.socketClosed();
    await stream.settled;
    expect(ledger.charges).toHaveLength(1);
    expect(ledger.conflicts).toEqual([]);
  });
});
