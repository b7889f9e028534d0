import { describe, expect, it } from 'vitest';
import { openLiveRelay } from '../../../src/protocols/openai-live/live-relay.ts';
import { openLive } from '../../../src/protocols/openai-live/live-session.ts';
import { replayTape } from '../../../src/protocols/replay-tape.ts';
import { describeReplay } from '../../../src/voice/recording/describe-replay.ts';
import { startLiveRelay } from '../../support/live-relay-world.ts';
import { LIVE_RATE, openLiveSession } from '../../support/live-session.ts';
import { memoryTapes } from '../../support/tapes.ts';
import { silence, tone } from '../../support/voice-fakes.ts';
import { settleAll } from '../../support/voice-world.ts';

describe('a recorded live session', () => {
  it('a recorded live session of this server is replayed to the same frames', async () => {
    const tapes = memoryTapes();
    const { live, pass, send, socket, speak } = await openLiveSession({
      change: { tapes },
      open: openLive,
    });
    await settleAll();
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    send({ type: 'session.commentary.append', content: 'One more.', delegation_id: null });
    await speak(tone(700, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    await pass(2_000);
    send({ type: 'session.close' });
    await live.settled;
    await settleAll();
    expect(socket.types()).toContain('session.closed');
    const tape = tapes.tape();
    const replay = await replayTape(tape);
    expect(describeReplay(tape, replay)).toBe(
      `live session sess_test: ${tape.sent.length} frames, all as recorded`,
    );
    expect(tape.sent.length).toBeGreaterThan(10);
  });

  it('a recorded live session at an upstream is replayed to the same frames', async () => {
    const tapes = memoryTapes();
    const { begin, clock, close, report, send, session, upstream } = await startLiveRelay({
      change: { tapes },
      open: openLiveRelay,
    });
    await settleAll();
    await begin();
    clock.advance(1_500);
    send({ type: 'session.input_audio.append', audio: 'AAAA' });
    await settleAll();
    report(1);
    upstream.say({ type: 'session.output_audio.delta', delta: 'AAAA' });
    await settleAll();
    send({ type: 'session.close' });
    await settleAll();
    close(1.5);
    await session.settled;
    await settleAll();
    const tape = tapes.tape();
    const replay = await replayTape(tape);
    expect(describeReplay(tape, replay)).toBe(
      `live-relay session sess_t: ${tape.sent.length} frames, all as recorded`,
    );
    expect(tape.sent.length).toBeGreaterThan(6);
  });
});
