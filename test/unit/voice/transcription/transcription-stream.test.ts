import { describe, expect, it } from 'vitest';
import { MACHINE_LIMITS } from '../../../../machines/limits.ts';
import { sleep } from '../../../../src/kernel/clock.ts';
import { DEEPGRAM_LIMITS } from '../../../../src/protocols/deepgram/limits.ts';
import type { TranscriptionStream } from '../../../../src/voice/transcription/transcription-stream.ts';
import { holdBack } from '../../../support/fake-ledger.ts';
import { LISTEN, openLocalStream, PLAIN, RATE } from '../../../support/heard-streams.ts';
import { bytesOf, silence, tone } from '../../../support/voice-fakes.ts';
import { AGENT, type FakeSocket, settleAll } from '../../../support/voice-world.ts';

describe('a transcription stream', () => {
  it('a transcription stream sends words while they are spoken, and ends the utterance after its silence', async () => {
    const { socket, send } = await openLocalStream();
    await send(tone(2_000, RATE));
    expect(socket.events.at(-1)).toMatchObject({ type: 'transcript', is_final: false });
    await send(silence(800, RATE));
    const last = socket.events.at(-1);
    expect(last).toMatchObject({ type: 'transcript', is_final: true, speech_final: true });
    expect(last?.text).toMatch(/^w1 w2/);
    expect(last?.latency_ms).toBeLessThanOrEqual(1_000);
  });

  it('a transcription stream charges exactly the audio that came, in one row, when the client closes', async () => {
    const { ledger, stream, send, price } = await openLocalStream();
    await send(tone(23_400, RATE));
    stream.socketClosed();
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(price(23.4));
    expect(ledger.charges).toHaveLength(1);
    expect(ledger.charges[0]).toMatchObject({ usage: { audio_second: 23.4 }, status: 'success' });
    expect(ledger.openHolds()).toBe(0);
  });

  it('a transcription stream hears the slices that the balance covers and part of another, then reports that and closes 1008', async () => {
    const slices = 3n;
    const { ledger, stream, send, socket, price } = await openLocalStream({
      creditRaw: slices * 105n + 104n,
    });
    expect(price(10)).toBe(105n);
    await send(tone(45_000, RATE));
    await stream.settled;
    expect(socket.closed).toEqual({ code: 1008, reason: 'insufficient_balance' });
    expect(socket.events.at(-1)).toMatchObject({ type: 'error', code: 'insufficient_balance' });
    expect(ledger.consumedRaw(AGENT)).toBe(price(39));
    expect(ledger.openHolds()).toBe(0);
  });

  it('a transcription stream goes on when the balance was credited before the last slice was used up', async () => {
    const { ledger, send, socket } = await openLocalStream({ creditRaw: 105n });
    await send(tone(9_900, RATE));
    await ledger.credit({ agentId: AGENT, amountRaw: 1_000n, reference: 'late' });
    await send(tone(5_000, RATE));
    expect(socket.closed).toBeUndefined();
  });

  it('a transcription stream keeps half a sample until its other half comes', async () => {
    const { engines, clock, stream } = await openLocalStream();
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

  it('a transcription stream takes audio that is sent at once and hears all of it, slice after slice', async () => {
    const { ledger, stream, socket, price } = await openLocalStream();
    stream.audio(bytesOf(tone(60_000, RATE)));
    stream.finish();
    await stream.settled;
    expect(socket.closed).toEqual({ code: 1000, reason: 'done' });
    expect(ledger.consumedRaw(AGENT)).toBe(price(60));
  });

  it('a transcription stream disconnects a client that sends further ahead of real time than allowed', async () => {
    const { stream, socket } = await openLocalStream();
    for (let i = 0; i < 13; i++) stream.audio(bytesOf(tone(10_000, RATE)));
    await stream.settled;
    expect(socket.closed?.code).toBe(1008);
    expect(socket.events.at(-1)).toMatchObject({ code: 'audio_too_fast' });
  });

  it('a transcription stream disconnects a client that sends too far ahead also after a silence', async () => {
    const { clock, stream, socket } = await openLocalStream();
    clock.advance(59_000);
    for (let i = 0; i < 13; i++) stream.audio(bytesOf(tone(10_000, RATE)));
    await stream.settled;
    expect(socket.events.at(-1)).toMatchObject({ code: 'audio_too_fast' });
  });

  it('a transcription stream sends the last final before it closes 1000 on close_stream', async () => {
    const { stream, send, socket } = await openLocalStream();
    await send(tone(1_500, RATE));
    stream.finish();
    await stream.settled;
    expect(socket.events.at(-1)).toMatchObject({ is_final: true, speech_final: true });
    expect(socket.closed).toEqual({ code: 1000, reason: 'done' });
  });

  it('a transcription stream settles and closes 1011 when the recogniser fails', async () => {
    const { ledger, engines, stream, send, socket } = await openLocalStream();
    engines.stt.pocketsphinx.breakAfterSamples = RATE;
    await send(tone(3_000, RATE));
    await stream.settled;
    expect(socket.closed?.code).toBe(1011);
    expect(socket.of('error')).toHaveLength(1);
    expect(ledger.charges[0]?.status).toBe('failed');
    expect([ledger.openHolds(), engines.stt.pocketsphinx.inUse]).toEqual([0, 0]);
  });

  it('a transcription stream charges what was transcribed, and nothing that its recogniser failed to transcribe', async () => {
    const { ledger, engines, stream, send, price } = await openLocalStream({ dialect: LISTEN });
    await send(tone(2_000, RATE));
    await send(silence(3_000, RATE));
    engines.stt.pocketsphinx.breakAfterSamples = engines.stt.pocketsphinx.heardSamples + RATE;
    await send(tone(3_000, RATE));
    await stream.settled;
    const [charge] = ledger.charges;
    expect(charge?.usage.audio_second).toBeGreaterThanOrEqual(4.5);
    expect(charge?.usage.audio_second).toBeLessThanOrEqual(5.1);
    expect(ledger.consumedRaw(AGENT)).toBe(price(charge?.usage.audio_second ?? 0));
  });

  it('a transcription stream waits for the last words as long as some come, however long that takes in all', async () => {
    const { clock, engines, stream, send, socket, ledger, price } = await openLocalStream();
    engines.stt.pocketsphinx.decoding = () =>
      sleep(clock, MACHINE_LIMITS.transcription.finishMs - 1_000);
    for (let said = 0; said < 3; said++) {
      await send(tone(1_000, RATE));
      await send(silence(1_000, RATE));
    }
    stream.finish();
    for (let said = 0; said < 3; said++) {
      await settleAll();
      clock.advance(MACHINE_LIMITS.transcription.finishMs - 1_000);
    }
    await stream.settled;
    expect(socket.closed).toEqual({ code: 1000, reason: 'done' });
    expect(socket.events.filter(({ speech_final }) => speech_final === true)).toHaveLength(3);
    expect(ledger.consumedRaw(AGENT)).toBe(price(6));
  });

  it('a transcription stream reports that the last words did not come, and does not charge them', async () => {
    const { clock, engines, stream, send, socket, ledger } = await openLocalStream();
    await send(silence(2_000, RATE));
    engines.stt.pocketsphinx.decoding = () => new Promise(() => {});
    await send(tone(5_000, RATE));
    stream.finish();
    await settleAll();
    clock.advance(MACHINE_LIMITS.transcription.finishMs);
    await stream.settled;
    expect(socket.closed).toEqual({ code: 1011, reason: 'transcript_unfinished' });
    expect(socket.events.at(-1)).toMatchObject({ type: 'error', code: 'transcript_unfinished' });
    expect(ledger.charges[0]?.usage.audio_second).toBeLessThanOrEqual(2.1);
  });

  it('a transcription stream closes without settling when another process has taken it over', async () => {
    const { ledger, stream, send, socket } = await openLocalStream();
    ledger.takeOver('stt_test');
    await send(tone(6_000, RATE));
    await stream.settled;
    expect(socket.closed?.code).toBe(1011);
    expect(ledger.charges).toHaveLength(0);
  });

  it('a transcription stream closes when no audio came for a minute', async () => {
    const { clock, stream, send, socket } = await openLocalStream();
    await send(tone(1_000, RATE));
    clock.advance(59_000);
    await settleAll();
    expect(socket.closed).toBeUndefined();
    clock.advance(1_000);
    await stream.settled;
    expect(socket.closed).toEqual({ code: 1000, reason: 'no audio' });
  });

  it('a transcription stream counts an empty message as no audio', async () => {
    const { clock, stream, socket } = await openLocalStream();
    for (let s = 0; s < 60; s += 10) {
      stream.audio(new Uint8Array());
      clock.advance(10_000);
      await settleAll();
    }
    expect(socket.closed?.reason).toBe('no audio');
  });

  it('a transcription stream of the listen dialect closes 1011 after ten seconds without a keep-alive', async () => {
    const { clock, stream, send, socket } = await openLocalStream({ dialect: LISTEN });
    await send(tone(1_000, RATE));
    for (const say of [
      () => stream.message('KeepAlive', ''),
      () => stream.misunderstood('what?'),
    ]) {
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

  it('a transcription stream is not kept open forever by keep-alives alone', async () => {
    const { clock, stream, socket } = await openLocalStream({ dialect: LISTEN });
    for (let s = 0; s < 905 && socket.closed === undefined; s += 5) {
      stream.message('KeepAlive', '');
      clock.advance(5_000);
      await settleAll();
    }
    expect(socket.closed?.code).toBe(1011);
  });

  it('a transcription stream sends a finalized utterance at once, and goes on unchanged', async () => {
    const { send, socket, stream } = await openLocalStream({ dialect: LISTEN });
    await send(tone(1_500, RATE));
    stream.message('Finalize', '');
    await settleAll();
    expect(socket.events.at(-1)).toMatchObject({ from_finalize: true, is_final: true });
    await send(tone(1_000, RATE));
    expect(socket.events.at(-1)).toMatchObject({ from_finalize: false, is_final: false });
  });

  it('a transcription stream settles once, however often the socket is reported closed', async () => {
    const { ledger, stream, send } = await openLocalStream();
    await send(tone(1_000, RATE));
    stream.socketClosed();
    stream.drain();
    stream.socketClosed();
    await stream.settled;
    expect(ledger.charges).toHaveLength(1);
    expect(ledger.conflicts).toEqual([]);
  });
});

describe.each([
  ['plain', PLAIN],
  ['listen', LISTEN],
])('the last audio of a %s stream, while money for it is waited for', (_, dialect) => {
  /** Fifteen seconds, with speech in each two and a half of them. */
  const pieces = Array.from({ length: 6 }, () => [tone(1_500, RATE), silence(1_000, RATE)]).flat();
  const sound = Buffer.concat(pieces.map(bytesOf));
  /** How many utterances a client received the words of. */
  const utterances = ({ events }: FakeSocket) =>
    events.filter((event) => event.speech_final === true && JSON.stringify(event).includes('w3'))
      .length;

  /** All of it came, ten seconds are paid for, and the next slice is asked for. */
  async function waiting() {
    const opened = await openLocalStream({ dialect });
    const { clock, ledger, stream } = opened;
    const extension = holdBack(ledger);
    stream.audio(sound);
    await settleAll();
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        clock.advance(Math.min(1_000, ms - passed));
        await settleAll();
      }
    };
    return { ...opened, extension, pass };
  }
  const unheard = { unheard_seconds: 5, message: expect.stringContaining('The last 5 s') };

  it.each([
    ['the client', (stream: TranscriptionStream) => stream.finish(), 1000],
    ['a drain', (stream: TranscriptionStream) => stream.drain(), 1012],
  ] as const)(
    'the last audio of a transcription stream is heard and charged when its hold comes, however long after %s',
    async (_who, end, code) => {
      const { extension, ledger, pass, price, socket, stream } = await waiting();
      end(stream);
      await pass(MACHINE_LIMITS.transcription.holdMs - 1_000);
      expect(socket.closed).toBeUndefined();
      extension.grant();
      await stream.settled;
      expect(socket.closed?.code).toBe(code);
      expect(ledger.consumedRaw(AGENT)).toBe(price(15));
      expect(utterances(socket)).toBe(6);
      expect(JSON.stringify(socket.events)).not.toContain('unheard');
    },
  );

  it('the last audio of a transcription stream is reported as unheard when its hold does not come in time', async () => {
    const { extension, ledger, pass, price, socket, stream } = await waiting();
    stream.finish();
    await pass(MACHINE_LIMITS.transcription.holdMs);
    expect(socket.closed).toEqual({ code: 1011, reason: 'ledger_unavailable' });
    expect(utterances(socket)).toBe(4);
    expect(socket.events.at(-1)).toMatchObject(unheard);
    if (dialect === LISTEN) expect(socket.of('Metadata')).toMatchObject([{ duration: 10 }]);
    // It comes too late, and nothing is taken for it.
    extension.grant();
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(price(10));
    expect([ledger.openHolds(), ledger.charges.length, ledger.conflicts]).toEqual([0, 1, []]);
  });

  it.each([
    ['while it goes on', () => {}],
    ['when it was to end', (stream: TranscriptionStream) => stream.finish()],
  ])(
    'the last audio of a transcription stream is reported as unheard when the ledger fails %s',
    async (_when, end) => {
      const { extension, ledger, price, socket, stream } = await waiting();
      end(stream);
      extension.fail(new Error('the ledger is away'));
      await stream.settled;
      expect(socket.closed).toEqual({ code: 1011, reason: 'ledger_unavailable' });
      expect(utterances(socket)).toBe(4);
      expect(socket.events.at(-1)).toMatchObject(unheard);
      expect(ledger.consumedRaw(AGENT)).toBe(price(10));
    },
  );

  it('the last audio of a transcription stream is reported as unheard when the balance does not cover it', async () => {
    const { ledger, price, socket, stream } = await openLocalStream({ dialect, creditRaw: 105n });
    stream.audio(sound);
    stream.finish();
    await stream.settled;
    expect(socket.closed).toEqual({ code: 1008, reason: 'insufficient_balance' });
    expect(socket.events.at(-1)).toMatchObject(unheard);
    expect(ledger.consumedRaw(AGENT)).toBe(price(10));
  });

  it('a transcription stream that has fallen silent still waits for the hold of its last audio', async () => {
    const { extension, ledger, pass, price, socket, stream } = await waiting();
    await pass((dialect === LISTEN ? DEEPGRAM_LIMITS.listen.idleSeconds : 60) * 1_000 + 5_000);
    expect(socket.closed).toBeUndefined();
    extension.grant();
    await stream.settled;
    expect(socket.closed?.reason).toMatch(/^NET-0001|^no audio/);
    expect(ledger.consumedRaw(AGENT)).toBe(price(15));
  });
});
