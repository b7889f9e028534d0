import { afterEach, describe, expect, it, vi } from 'vitest';
import { MACHINE_LIMITS } from '../../../../../machines/limits.ts';
import { DEEPGRAM_LIMITS } from '../../../../../src/protocols/deepgram/limits.ts';
import { UpstreamTranscriber } from '../../../../../src/protocols/deepgram/listen/upstream-transcriber.ts';
import { PLAIN_DIALECT } from '../../../../../src/protocols/transcript-events/plain-dialect.ts';
import { PaidAudio } from '../../../../../src/voice/billing/paid-audio.ts';
import { VOICE_LIMITS } from '../../../../../src/voice/limits.ts';
import { TranscriptionStream } from '../../../../../src/voice/transcription/transcription-stream.ts';
import { holdBack } from '../../../../support/fake-ledger.ts';
import { FakeUpstream, GoneUpstream } from '../../../../support/fake-upstream.ts';
import {
  LISTEN,
  openUpstreamStream as open,
  PLAIN,
  RATE,
} from '../../../../support/heard-streams.ts';
import { resultOf, totalOf } from '../../../../support/listen-upstream.ts';
import { bytesOf, silence, tone } from '../../../../support/voice-fakes.ts';
import { AGENT, settleAll } from '../../../../support/voice-world.ts';

const hush = (seconds: number) => bytesOf(silence(seconds * 1_000, RATE));

/** The words that it was sent, and between them the seconds of hush. */
const heardBy = ({ sent }: FakeUpstream) =>
  (sent.join('').match(/\{.*?\}|[^{]+/g) ?? []).map((part) =>
    part.startsWith('{') ? part : part.length / (2 * RATE),
  );

const sound = (seconds: number) => bytesOf(tone(seconds * 1_000, RATE));

afterEach(() => void vi.restoreAllMocks());

describe('a stream with an upstream transcriber', () => {
  it('an upstream stream waits up to its limit for the last words, reports that they did not come, and bills all audio', async () => {
    const { client, ledger, pass, stream, upstream } = await open();
    stream.audio(sound(4));
    stream.finish();
    await pass(MACHINE_LIMITS.transcription.finishMs - 1);
    expect(client.closed).toBeUndefined();
    await pass(1);
    await stream.settled;
    expect([client.closed?.code, upstream.isClosed]).toEqual([1011, true]);
    expect(ledger.charges).toMatchObject([{ costRaw: 40n, usage: { audio_second: 4 } }]);
  });

  it('an upstream stream waits a shorter time for the total after its client has left, and bills the total', async () => {
    const silent = await open();
    silent.stream.audio(sound(4));
    silent.stream.socketClosed();
    await silent.pass(MACHINE_LIMITS.relay.finishMs - 1);
    expect(silent.ledger.openHolds()).toBe(1);
    await silent.pass(1);
    await silent.stream.settled;
    expect(silent.ledger.consumedRaw(AGENT)).toBe(40n);

    const reporting = await open();
    reporting.stream.audio(sound(4));
    reporting.stream.socketClosed();
    expect(reporting.words()).toEqual(['{"type":"CloseStream"}']);
    reporting.upstream.say(totalOf(2.5));
    reporting.upstream.leave(1000);
    await reporting.stream.settled;
    expect(reporting.ledger.consumedRaw(AGENT)).toBe(25n);
  });

  it('an upstream stream that sent no audio ends at once when its client leaves', async () => {
    const { ledger, stream, upstream } = await open();
    stream.socketClosed();
    await stream.settled;
    expect([upstream.sent, upstream.isClosed, ledger.charges]).toEqual([[], true, []]);
  });

  it('an upstream stream reads a paused upstream to its end when its client left', async () => {
    const { client, ledger, stream, upstream } = await open({ dialect: LISTEN });
    stream.audio(sound(4));
    client.bufferedAmount = VOICE_LIMITS.relay.unsentBytes + 1;
    upstream.say(resultOf(1, {}));
    expect(upstream.isPaused).toBe(true);
    stream.socketClosed();
    expect(upstream.isPaused).toBe(false);
    upstream.say(totalOf(4));
    upstream.leave(1000);
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(40n);
  });

  it('an upstream stream sends all frames from before the close to a client that was behind, and bills them', async () => {
    const { client, ledger, stream, upstream } = await open({ dialect: LISTEN });
    stream.audio(sound(4));
    client.bufferedAmount = VOICE_LIMITS.relay.unsentBytes + 1;
    for (const word of [resultOf(1, {}), resultOf(2, {}), totalOf(4)]) upstream.say(word);
    stream.finish();
    upstream.leave(1000);
    await settleAll();
    expect([client.types(), client.closed]).toEqual([['Results'], undefined]);
    client.bufferedAmount = 0;
    stream.drained();
    await stream.settled;
    expect(client.types()).toEqual(['Results', 'Results', 'Metadata']);
    expect([client.closed?.code, ledger.consumedRaw(AGENT)]).toEqual([1000, 40n]);
  });

  it('an upstream stream that broke off with a client too far behind bills what was reported, and no more', async () => {
    const { client, ledger, pass, stream, upstream } = await open({ dialect: LISTEN });
    stream.audio(sound(4));
    client.bufferedAmount = VOICE_LIMITS.relay.unsentBytes + 1;
    for (const word of [resultOf(1, {}), resultOf(2, {})]) upstream.say(word);
    upstream.leave(1011);
    for (let keptMs = 0; keptMs < VOICE_LIMITS.relay.stallMs; keptMs += 5_000) {
      stream.audio(sound(1));
      await pass(5_000);
    }
    await stream.settled;
    expect([client.closed?.reason, ledger.consumedRaw(AGENT)]).toEqual(['client_too_slow', 20n]);
  });

  it('an upstream stream disconnects a client that does not catch up, and none that does', async () => {
    const { client, pass, stream, upstream } = await open({ dialect: LISTEN });
    client.bufferedAmount = VOICE_LIMITS.relay.unsentBytes + 1;
    stream.audio(sound(1));
    upstream.say(resultOf(1, {}));
    for (let kept = 0; kept < VOICE_LIMITS.relay.stallMs - 1_000; kept += 5_000) {
      stream.message('KeepAlive', '{"type":"KeepAlive"}');
      await pass(Math.min(5_000, VOICE_LIMITS.relay.stallMs - 1_000 - kept));
    }
    client.bufferedAmount = 0;
    stream.drained();
    stream.message('KeepAlive', '{"type":"KeepAlive"}');
    await pass(5_000);
    expect(client.closed).toBeUndefined();
    client.bufferedAmount = VOICE_LIMITS.relay.unsentBytes + 1;
    upstream.say(resultOf(1, {}));
    for (let kept = 0; kept < VOICE_LIMITS.relay.stallMs; kept += 5_000) {
      stream.message('KeepAlive', '{"type":"KeepAlive"}');
      await pass(5_000);
    }
    expect(client.closed).toEqual({ code: 1013, reason: 'client_too_slow' });
    await stream.settled;
  });

  it('an upstream stream ends when its upstream does not take the audio, and bills no more than was reported', async () => {
    const { client, ledger, stream, upstream } = await open();
    stream.audio(sound(4));
    upstream.say(resultOf(1, {}));
    upstream.unsentBytes = VOICE_LIMITS.relay.untakenBytes + 1;
    stream.audio(sound(4));
    expect(client.closed).toEqual({ code: 1013, reason: 'upstream_too_slow' });
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(10n);
  });

  it('an upstream stream bills all audio when results came without times before the upstream broke off', async () => {
    const { ledger, stream, upstream } = await open();
    stream.audio(sound(3));
    upstream.say({ ...resultOf(3, { is_final: true }), start: undefined, duration: undefined });
    stream.audio(sound(4));
    upstream.leave(1011);
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(30n);
  });

  it('an upstream stream keeps its upstream alive while a client of the plain route is silent, for a minute', async () => {
    const { client, pass, stream, words } = await open();
    await pass(58_000);
    expect(words().length).toBeGreaterThanOrEqual(7);
    expect(new Set(words())).toEqual(new Set(['{"type":"KeepAlive"}']));
    expect(client.closed).toBeUndefined();
    await pass(2_000);
    expect(words().at(-1)).toBe('{"type":"CloseStream"}');
    stream.socketClosed();
    await stream.settled;
  });

  it('an upstream stream sends no further keep-alive once a keep-alive has ended the stream', async () => {
    const { client, pass, stream, upstream, words } = await open();
    upstream.unsentBytes = VOICE_LIMITS.relay.untakenBytes + 1;
    await pass(60_000);
    await stream.settled;
    expect(client.closed?.reason).toBe('upstream_too_slow');
    expect(words()).toEqual(['{"type":"KeepAlive"}']);
  });

  it('an upstream stream sends no keep-alive when the upstream was gone before its client came', async () => {
    const { client, pass, stream, words } = await open({ upstream: new GoneUpstream() });
    await stream.settled;
    expect(client.closed?.code).toBe(1011);
    await pass(60_000);
    expect(words()).toEqual([]);
  });

  it('an upstream stream leaves keep-alives to a client whose dialect has a message for them', async () => {
    const { client, pass, upstream, words } = await open({ dialect: LISTEN });
    await pass(DEEPGRAM_LIMITS.listen.idleSeconds * 1_000);
    expect(words()).toEqual(['{"type":"CloseStream"}']);
    upstream.leave(1000);
    await settleAll();
    expect(client.closed).toEqual({ code: 1011, reason: expect.stringMatching(/^NET-0001/) });
  });

  it('an upstream stream journals each slice when it is reported, so that a crash charges nothing that was not heard', async () => {
    const { ledger, stream, upstream } = await open();
    const lines: bigint[] = [];
    const journal = ledger.journal;
    ledger.journal = async (claim, entries) => {
      lines.push(...entries.map(({ costRaw }) => costRaw));
      return journal(claim, entries);
    };
    stream.audio(sound(30));
    await settleAll();
    expect(lines).toEqual([]);
    upstream.say(resultOf(12, {}));
    await settleAll();
    expect(lines).toEqual([120n]);
    stream.cutOff({ code: 1008, reason: 'test' });
    await stream.settled;
    expect(lines).toEqual([120n, 180n]);
  });

  it('an upstream stream ignores client messages after the client ended its audio, while it waits for money', async () => {
    const { ledger, stream, upstream } = await open();
    const extension = holdBack(ledger);
    const waits = vi.spyOn(PaidAudio.prototype, 'whenHeard');
    stream.audio(hush(15));
    for (let times = 0; times < 3; times++) {
      stream.finish();
      stream.audio(hush(4));
      stream.message('Finalize', '{"type":"Finalize"}');
    }
    expect(waits).toHaveBeenCalledTimes(1);
    extension.grant();
    await settleAll();
    expect(heardBy(upstream)).toEqual([15, '{"type":"CloseStream"}']);
    upstream.say(totalOf(15));
    upstream.leave(1000);
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(150n);
  });

  it('an upstream stream keeps its upstream alive while it waits for money after the end of the audio, in every dialect', async () => {
    for (const dialect of [PLAIN, LISTEN]) {
      const { client, ledger, pass, stream, upstream } = await open({ dialect });
      const extension = holdBack(ledger);
      stream.audio(hush(15));
      stream.finish();
      await pass(MACHINE_LIMITS.transcription.holdMs - 1_000);
      expect(client.closed).toBeUndefined();
      extension.grant();
      await settleAll();
      const [first, ...rest] = heardBy(upstream);
      const keepAlives = rest.slice(0, -2);
      expect([first, ...rest.slice(-2)]).toEqual([10, 5, '{"type":"CloseStream"}']);
      expect(keepAlives.length).toBeGreaterThanOrEqual(2);
      expect(new Set(keepAlives)).toEqual(new Set(['{"type":"KeepAlive"}']));
      await pass(5_000);
      expect(heardBy(upstream).at(-1)).toBe('{"type":"CloseStream"}');
      upstream.say(totalOf(15));
      upstream.leave(1000);
      await stream.settled;
      expect(ledger.consumedRaw(AGENT)).toBe(150n);
    }
  });

  it('an upstream stream bills what was sent when money came too late for the rest, and reports the rest to its client', async () => {
    const { client, ledger, pass, stream, upstream, words } = await open({ dialect: LISTEN });
    const extension = holdBack(ledger);
    stream.audio(hush(15));
    stream.finish();
    await pass(MACHINE_LIMITS.transcription.holdMs);
    expect(words().at(-1)).toBe('{"type":"CloseStream"}');
    upstream.say(totalOf(10));
    upstream.leave(1000);
    await settleAll();
    expect(client.closed).toEqual({ code: 1011, reason: 'ledger_unavailable' });
    expect(client.events.at(-1)).toMatchObject({ type: 'Error', unheard_seconds: 5 });
    extension.grant();
    await stream.settled;
    expect([ledger.consumedRaw(AGENT), ledger.openHolds()]).toEqual([100n, 0]);
  });

  it('an upstream stream passes each client message on in order with the audio, while it waits for money', async () => {
    const { ledger, stream, upstream } = await open({ dialect: LISTEN });
    const extension = holdBack(ledger);
    stream.audio(hush(15));
    stream.message('Finalize', '{"type":"Finalize"}');
    stream.audio(hush(10));
    stream.finish();
    extension.grant();
    await settleAll();
    const words = ['{"type":"Finalize"}', '{"type":"CloseStream"}'];
    expect(heardBy(upstream)).toEqual([15, words[0], 10, words[1]]);
  });

  it('an upstream stream reads its upstream to the end, and bills the total, when the ledger fails after its client has left', async () => {
    const { ledger, stream, upstream } = await open();
    const extension = holdBack(ledger);
    stream.audio(sound(8));
    stream.socketClosed();
    extension.fail(new Error('the ledger is away'));
    await settleAll();
    upstream.say(totalOf(2));
    upstream.leave(1000);
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(20n);

    const unwritten = await open();
    unwritten.stream.audio(sound(15));
    await settleAll();
    unwritten.ledger.journal = () => Promise.reject(new Error('the ledger is away'));
    unwritten.stream.socketClosed();
    unwritten.upstream.say(resultOf(12, {}));
    await settleAll();
    unwritten.upstream.say(totalOf(12.5));
    unwritten.upstream.leave(1000);
    await unwritten.stream.settled;
    expect(unwritten.ledger.consumedRaw(AGENT)).toBe(125n);
  });

  it('an upstream stream ends 1011 when a frame of its upstream cannot be handled, and the process lives', async () => {
    const dialect = {
      ...PLAIN_DIALECT,
      relayed: () => {
        throw new Error('it broke');
      },
    };
    const upstream = new FakeUpstream();
    const { client, stream } = await open({
      upstream,
      open: (deps, parts) =>
        new TranscriptionStream(deps, {
          ...parts,
          dialect,
          isRelayed: true,
          openTranscriber: (stage) =>
            new UpstreamTranscriber({ ...deps, upstream, dialect, isOwnKey: false }, stage),
        }),
    });
    upstream.say(resultOf(1, {}));
    await stream.settled;
    expect(client.closed?.code).toBe(1011);
  });
});
