import { afterEach, describe, expect, it, vi } from 'vitest';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { PaidAudio } from '../../../../src/voice/billing/paid-audio.ts';
import { PLAIN_DIALECT } from '../../../../src/voice/transcription/plain-dialect.ts';
import { TranscriptionStream } from '../../../../src/voice/transcription/transcription-stream.ts';
import { UpstreamTranscriber } from '../../../../src/voice/transcription/upstream-transcriber.ts';
import { holdBack } from '../../../support/fake-ledger.ts';
import { FakeUpstream, GoneUpstream } from '../../../support/fake-upstream.ts';
import { LISTEN, openUpstreamStream as open, PLAIN, RATE } from '../../../support/heard-streams.ts';
import { resultOf, totalOf } from '../../../support/listen-upstream.ts';
import { bytesOf, silence, tone } from '../../../support/voice-fakes.ts';
import { AGENT, settleAll } from '../../../support/voice-world.ts';

const hush = (seconds: number) => bytesOf(silence(seconds * 1_000, RATE));

/** The words that it was sent, and between them the seconds of hush. */
const heardBy = ({ sent }: FakeUpstream) =>
  (sent.join('').match(/\{.*?\}|[^{]+/g) ?? []).map((part) =>
    part.startsWith('{') ? part : part.length / (2 * RATE),
  );

const sound = (seconds: number) => bytesOf(tone(seconds * 1_000, RATE));

afterEach(() => void vi.restoreAllMocks());

describe('a stream heard by an upstream', () => {
  it('waits so long for its last words, says that they did not come, and takes all of the sound for heard', async () => {
    const { client, ledger, pass, stream, upstream } = await open();
    stream.audio(sound(4));
    stream.finish();
    await pass(LIMITS.transcriptFinishMs - 1);
    expect(client.closed).toBeUndefined();
    await pass(1);
    await stream.settled;
    expect([client.closed?.code, upstream.isClosed]).toEqual([1011, true]);
    expect(ledger.charges).toMatchObject([{ costRaw: 40n, usage: { audio_second: 4 } }]);
  });

  it('waits less for what it is told after its client has left, and believes that', async () => {
    const silent = await open();
    silent.stream.audio(sound(4));
    silent.stream.socketClosed();
    await silent.pass(LIMITS.relayFinishMs - 1);
    expect(silent.ledger.openHolds()).toBe(1);
    await silent.pass(1);
    await silent.stream.settled;
    expect(silent.ledger.consumedRaw(AGENT)).toBe(40n);

    const telling = await open();
    telling.stream.audio(sound(4));
    telling.stream.socketClosed();
    expect(telling.words()).toEqual(['{"type":"CloseStream"}']);
    telling.upstream.say(totalOf(2.5));
    telling.upstream.leave(1000);
    await telling.stream.settled;
    expect(telling.ledger.consumedRaw(AGENT)).toBe(25n);
  });

  it('does not wait at all where nothing was said, or all is told', async () => {
    const { ledger, stream, upstream } = await open();
    stream.socketClosed();
    await stream.settled;
    expect([upstream.sent, upstream.isClosed, ledger.charges]).toEqual([[], true, []]);
  });

  it('hears out an upstream that was held back when its client left', async () => {
    const { client, ledger, stream, upstream } = await open({ dialect: LISTEN });
    stream.audio(sound(4));
    client.bufferedAmount = LIMITS.relayUnsentBytes + 1;
    upstream.say(resultOf(1, {}));
    expect(upstream.isPaused).toBe(true);
    stream.socketClosed();
    expect(upstream.isPaused).toBe(false);
    upstream.say(totalOf(4));
    upstream.leave(1000);
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(40n);
  });

  it('tells all that it had said before it closed to a client that was behind, and bills it', async () => {
    const { client, ledger, stream, upstream } = await open({ dialect: LISTEN });
    stream.audio(sound(4));
    client.bufferedAmount = LIMITS.relayUnsentBytes + 1;
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

  it('takes what was told, and no more, where it broke off with a client that never caught up', async () => {
    const { client, ledger, pass, stream, upstream } = await open({ dialect: LISTEN });
    stream.audio(sound(4));
    client.bufferedAmount = LIMITS.relayUnsentBytes + 1;
    for (const word of [resultOf(1, {}), resultOf(2, {})]) upstream.say(word);
    upstream.leave(1011);
    for (let keptMs = 0; keptMs < LIMITS.relayStallMs; keptMs += 5_000) {
      stream.audio(sound(1));
      await pass(5_000);
    }
    await stream.settled;
    expect([client.closed?.reason, ledger.consumedRaw(AGENT)]).toEqual(['client_too_slow', 20n]);
  });

  it('cuts off a client that does not catch up, and none that does', async () => {
    const { client, pass, stream, upstream } = await open({ dialect: LISTEN });
    client.bufferedAmount = LIMITS.relayUnsentBytes + 1;
    stream.audio(sound(1));
    upstream.say(resultOf(1, {}));
    for (let kept = 0; kept < LIMITS.relayStallMs - 1_000; kept += 5_000) {
      stream.word('KeepAlive', '{"type":"KeepAlive"}');
      await pass(Math.min(5_000, LIMITS.relayStallMs - 1_000 - kept));
    }
    client.bufferedAmount = 0;
    stream.drained();
    stream.word('KeepAlive', '{"type":"KeepAlive"}');
    await pass(5_000);
    expect(client.closed).toBeUndefined();
    client.bufferedAmount = LIMITS.relayUnsentBytes + 1;
    upstream.say(resultOf(1, {}));
    for (let kept = 0; kept < LIMITS.relayStallMs; kept += 5_000) {
      stream.word('KeepAlive', '{"type":"KeepAlive"}');
      await pass(5_000);
    }
    expect(client.closed).toEqual({ code: 1013, reason: 'client_too_slow' });
    await stream.settled;
  });

  it('costs its client the stream when it does not take its sound, and no more than it told of', async () => {
    const { client, ledger, stream, upstream } = await open();
    stream.audio(sound(4));
    upstream.say(resultOf(1, {}));
    upstream.unsentBytes = LIMITS.relayUntakenBytes + 1;
    stream.audio(sound(4));
    expect(client.closed).toEqual({ code: 1013, reason: 'upstream_too_slow' });
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(10n);
  });

  it('is paid for all that it had when it told words without their time, and then broke off', async () => {
    const { ledger, stream, upstream } = await open();
    stream.audio(sound(3));
    upstream.say({ ...resultOf(3, { is_final: true }), start: undefined, duration: undefined });
    stream.audio(sound(4));
    upstream.leave(1011);
    await stream.settled;
    expect(ledger.consumedRaw(AGENT)).toBe(30n);
  });

  it('is kept while a client of the plain route is silent, for a minute', async () => {
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

  it('is not kept any more once the word that keeps it has cost the stream', async () => {
    const { client, pass, stream, upstream, words } = await open();
    upstream.unsentBytes = LIMITS.relayUntakenBytes + 1;
    await pass(60_000);
    await stream.settled;
    expect(client.closed?.reason).toBe('upstream_too_slow');
    expect(words()).toEqual(['{"type":"KeepAlive"}']);
  });

  it('is not kept at all when it was gone before its client came', async () => {
    const { client, pass, stream, words } = await open({ upstream: new GoneUpstream() });
    await stream.settled;
    expect(client.closed?.code).toBe(1011);
    await pass(60_000);
    expect(words()).toEqual([]);
  });

  it('leaves that to a client which has a word for it', async () => {
    const { client, pass, upstream, words } = await open({ dialect: LISTEN });
    await pass(LIMITS.listenIdleSeconds * 1_000);
    expect(words()).toEqual(['{"type":"CloseStream"}']);
    upstream.leave(1000);
    await settleAll();
    expect(client.closed).toEqual({ code: 1011, reason: expect.stringMatching(/^NET-0001/) });
  });

  it('journals each slice as it is told of, so that a crash costs nobody what was not heard', async () => {
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

  it('hears nothing that comes after the word that no more comes, while money is waited for', async () => {
    const { ledger, stream, upstream } = await open();
    const extension = holdBack(ledger);
    const waits = vi.spyOn(PaidAudio.prototype, 'whenHeard');
    stream.audio(hush(15));
    for (let times = 0; times < 3; times++) {
      stream.finish();
      stream.audio(hush(4));
      stream.word('Finalize', '{"type":"Finalize"}');
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

  it('is kept while money is waited for behind the word that no more comes, whatever its client’s dialect', async () => {
    for (const dialect of [PLAIN, LISTEN]) {
      const { client, ledger, pass, stream, upstream } = await open({ dialect });
      const extension = holdBack(ledger);
      stream.audio(hush(15));
      stream.finish();
      await pass(LIMITS.transcriptionHoldMs - 1_000);
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

  it('is paid for what it was sent when money came too late for the rest, which its client is told', async () => {
    const { client, ledger, pass, stream, upstream, words } = await open({ dialect: LISTEN });
    const extension = holdBack(ledger);
    stream.audio(hush(15));
    stream.finish();
    await pass(LIMITS.transcriptionHoldMs);
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

  it('is told each word where it was said, while money is waited for', async () => {
    const { ledger, stream, upstream } = await open({ dialect: LISTEN });
    const extension = holdBack(ledger);
    stream.audio(hush(15));
    stream.word('Finalize', '{"type":"Finalize"}');
    stream.audio(hush(10));
    stream.finish();
    extension.grant();
    await settleAll();
    const words = ['{"type":"Finalize"}', '{"type":"CloseStream"}'];
    expect(heardBy(upstream)).toEqual([15, words[0], 10, words[1]]);
  });

  it('is heard out and believed when the ledger fails after its client has left', async () => {
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

  it('ends 1011 when a frame of it cannot be handled, and the process lives', async () => {
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
          ...{ ...parts, dialect, isRelayed: true },
          openTranscriber: (stage) =>
            new UpstreamTranscriber({ ...deps, upstream, dialect }, stage),
        }),
    });
    upstream.say(resultOf(1, {}));
    await stream.settled;
    expect(client.closed?.code).toBe(1011);
  });
});
