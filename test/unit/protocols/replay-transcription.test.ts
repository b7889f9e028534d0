import { describe, expect, it } from 'vitest';
import type { DialectChoice } from '../../../src/protocols/create-transcription.ts';
import { openTranscribed } from '../../../src/protocols/create-transcription.ts';
import { replayTape } from '../../../src/protocols/replay-tape.ts';
import { VOICE_LIMITS } from '../../../src/voice/limits.ts';
import { describeReplay } from '../../../src/voice/recording/describe-replay.ts';
import { holdBack } from '../../support/fake-ledger.ts';
import {
  LISTEN,
  openLocalStream,
  openUpstreamStream,
  PLAIN,
  RATE,
} from '../../support/heard-streams.ts';
import { resultOf, totalOf } from '../../support/listen-upstream.ts';
import { type MemoryTapes, memoryTapes } from '../../support/tapes.ts';
import { bytesOf, silence, tone } from '../../support/voice-fakes.ts';
import { settleAll } from '../../support/voice-world.ts';

const sound = (seconds: number) => bytesOf(tone(seconds * 1_000, RATE));
const DIALECTS: [string, DialectChoice][] = [
  ['of this interface', PLAIN],
  ['of Deepgram', LISTEN],
];

const openLocal = (tapes: MemoryTapes, dialect: DialectChoice) =>
  openLocalStream({ dialect, change: { tapes }, open: openTranscribed });

const openUpstream = (tapes: MemoryTapes, dialect: DialectChoice, isOwnKey = false) =>
  openUpstreamStream({ dialect, isOwnKey, change: { tapes }, open: openTranscribed });

/** What was sent to the client, as it is recorded. */
const said = (tapes: MemoryTapes) =>
  tapes
    .tape()
    .sent.filter(([, path]) => path === 'client.send')
    .map(([, , [data]]) => JSON.parse(Buffer.from(data as Uint8Array).toString()));

async function expectReplays(tapes: MemoryTapes) {
  const tape = tapes.tape();
  expect(tape.isFull).toBe(false);
  for (let n = 0; n < 2; n++) {
    expect(await replayTape(tapes.tape())).toEqual({
      frames: tape.sent.length,
      difference: undefined,
    });
  }
}

describe.each(DIALECTS)('a recorded transcription in the dialect %s', (_, dialect) => {
  it('a recorded transcription with a local recogniser is replayed to the same frames at the same times', async () => {
    const tapes = memoryTapes();
    const { clock, ledger, send, socket, stream } = await openLocal(tapes, dialect);
    await send(tone(1_500, RATE));
    await send(silence(800, RATE));
    stream.message('KeepAlive', '{"type":"KeepAlive"}');
    stream.misunderstood('what?');
    await send(tone(700, RATE));
    stream.message('Finalize', '{"type":"Finalize"}');
    await settleAll();
    // Money is waited for in the middle.
    const extension = holdBack(ledger);
    stream.audio(sound(12));
    await settleAll();
    clock.advance(500);
    extension.grant();
    await settleAll();
    stream.finish();
    await stream.settled;
    await settleAll();

    expect(said(tapes)).toEqual(socket.events);
    expect(socket.events.length).toBeGreaterThanOrEqual(8);
    expect(socket.closed?.code).toBe(1000);
    await expectReplays(tapes);
    expect(describeReplay(tapes.tape(), await replayTape(tapes.tape()))).toMatch(
      /^transcription session stt_test: \d+ frames, all as recorded$/,
    );
  });

  it('a recorded transcription with an upstream is replayed to the same frames on both sides', async () => {
    const tapes = memoryTapes();
    const { client, pass, stream, upstream, words } = await openUpstream(tapes, dialect);
    stream.audio(sound(4));
    await settleAll();
    upstream.say(resultOf(2, {}));
    upstream.say({ type: 'Made.Up', text: '漢字 🙂' });
    stream.message('Finalize', '{"type":"Finalize"}');
    await pass(VOICE_LIMITS.listen.keepAliveMs + 1_000);
    client.bufferedAmount = VOICE_LIMITS.relay.unsentBytes + 1;
    upstream.say(resultOf(4, { is_final: true, speech_final: true }));
    await settleAll();
    client.bufferedAmount = 0;
    stream.drained();
    stream.finish();
    await settleAll();
    upstream.say(totalOf(4));
    upstream.leave(1000);
    await stream.settled;
    await settleAll();

    expect(said(tapes)).toEqual(client.events);
    expect(words()).toContain('{"type":"CloseStream"}');
    const paths = new Set(tapes.tape().sent.map(([, path]) => path));
    expect(paths).toEqual(
      new Set(['client.send', 'upstream.send', 'client.close', 'upstream.close']),
    );
    await expectReplays(tapes);
  });

  it('the replay of a recorded transcription differs when other audio is played', async () => {
    const tapes = memoryTapes();
    const { send, stream } = await openLocal(tapes, dialect);
    await send(tone(1_500, RATE));
    await send(silence(800, RATE));
    stream.socketClosed();
    await stream.settled;
    await settleAll();
    const tape = tapes.tape();
    const at = tape.arrivals.findIndex(([kind, , name]) => kind === 'in' && name === 'audio');
    const arrivals = tape.arrivals.filter((_arrival, i) => i !== at);
    expect((await replayTape({ ...tape, arrivals })).difference).toBeDefined();
  });
});

describe('a recorded transcription', () => {
  // A message that is not known here goes on to the caller's own account alone, and is recorded in any case.
  it.each([true, false])(
    'the recording of a transcription holds no credential that its client or its upstream named, own key: %s',
    async (isOwnKey) => {
      const tapes = memoryTapes();
      const { client, stream, upstream } = await openUpstream(tapes, LISTEN, isOwnKey);
      stream.message('Configure', '{"type":"Configure","api_key":"sk-hidden-1"}');
      await settleAll();
      upstream.say({ type: 'Configured', headers: { authorization: 'Token sk-hidden-2' } });
      await settleAll();
      stream.socketClosed();
      await stream.settled;
      await settleAll();
      expect(upstream.sent.join('').includes('sk-hidden-1')).toBe(isOwnKey);
      expect(JSON.stringify(client.events)).toContain('sk-hidden-2');
      expect(tapes.bytes().includes('sk-hidden')).toBe(false);
      await expectReplays(tapes);
    },
  );
});
