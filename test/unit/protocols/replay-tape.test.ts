import { describe, expect, it } from 'vitest';
import { UtteranceLost } from '../../../src/engines/engine.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { openRealtime } from '../../../src/protocols/openai-realtime/realtime-session.ts';
import { replayTape } from '../../../src/protocols/replay-tape.ts';
import { describeReplay } from '../../../src/voice/recording/describe-replay.ts';
import {
  encodeHeader,
  encodeRecord,
  readTape,
  type SentRecord,
  type Tape,
} from '../../../src/voice/recording/tape.ts';
import { StageFailed, type VoicePipeline } from '../../../src/voice/session/voice-pipeline.ts';
import { openSession, RATE } from '../../support/realtime-session.ts';
import { memoryTapes } from '../../support/tapes.ts';
import { silence, tone } from '../../support/voice-fakes.ts';
import { settleAll } from '../../support/voice-world.ts';

/** A session that is talked to, broken into, changed, misused and left. */
async function recorded(tapes = memoryTapes()) {
  const opened = await openSession({ change: { tapes }, open: openRealtime });
  const { clock, engines, say, send, session, socket, speak } = opened;
  await settleAll();
  await speak(tone(1_000, RATE));
  await speak(silence(900, RATE));
  await settleAll();
  engines.guide.thinking = async () => clock.advance(30);
  // The second sentence is being made when the caller breaks in.
  let goOn: () => void = () => {};
  engines.tts.flite.between = () =>
    new Promise<void>((resolve) => {
      goOn = resolve;
    });
  await say('tell me more');
  await speak(tone(700, RATE));
  goOn();
  engines.tts.flite.between = undefined;
  await speak(silence(900, RATE));
  send({
    type: 'session.update',
    session: { type: 'realtime', audio: { input: { format: { type: 'audio/pcmu' } } } },
  });
  send({ type: 'no such event' });
  session.frame(Buffer.from('no JSON'));
  engines.stt.pocketsphinx.streams = 0;
  send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(8_000, 7).toString('base64') });
  await settleAll();
  await say('and goodbye');
  session.drained();
  await settleAll();
  session.socketClosed();
  await session.settled;
  await settleAll();
  return { ...opened, socket, tapes };
}

/** The same tape with one frame of the session, counted from 1, as another. */
function altered(tape: Tape, frame: number, change: (sent: SentRecord) => SentRecord): Tape {
  return { ...tape, sent: tape.sent.map((sent, i) => (i === frame - 1 ? change(sent) : sent)) };
}

/** What they answer cannot be read in full. */
const oddPipeline = (pipeline: VoicePipeline): VoicePipeline => ({
  ...pipeline,
  llm: {
    reply(request) {
      const reply = pipeline.llm.reply(request);
      const get = () => {
        throw new Error('cannot be read');
      };
      return {
        next: async () => {
          const piece = await reply.next();
          return piece && Object.defineProperty({ ...piece }, 'odd', { enumerable: true, get });
        },
        get tokens() {
          return reply.tokens;
        },
        cut: undefined,
      };
    },
  },
});

/** The first utterance is not transcribed; the recogniser goes on. */
const lossyPipeline = (pipeline: VoicePipeline): VoicePipeline => ({
  ...pipeline,
  stt(config) {
    const engine = pipeline.stt(config);
    let lost = 1;
    return {
      async open(options) {
        const stt = await engine.open(options);
        const endUtterance = async () => {
          if (lost-- <= 0) return stt.endUtterance();
          const cause = new StageFailed('ear_away', 'the recogniser could not be asked');
          throw new UtteranceLost('not transcribed', { cause });
        };
        return { push: (pcm) => stt.push(pcm), close: () => stt.close(), endUtterance };
      },
    };
  },
});

describe('a recorded session', () => {
  it('a recorded session is replayed to the same frames, byte for byte, however often', async () => {
    const { socket, tapes } = await recorded();
    const tape = tapes.tape();
    const types = socket.types();
    // What was recorded is what its client got.
    const said = tape.sent
      .filter(([, path]) => path === 'client.send')
      .map(([, , [data]]) => JSON.parse(data as string));
    expect(said).toEqual(socket.events);
    expect(types.filter((type) => type === 'response.done').length).toBeGreaterThanOrEqual(4);
    expect(types).toContain('error');
    const cancelled = socket
      .of('response.done')
      .filter((event) => JSON.stringify(event).includes('turn_detected'));
    expect(cancelled).toHaveLength(1);

    for (let n = 0; n < 2; n++) {
      expect(await replayTape(tapes.tape())).toEqual({
        frames: tape.sent.length,
        difference: undefined,
      });
    }
  });

  it('the replay of a recorded session reports the first frame that is different', async () => {
    const { tapes } = await recorded();
    const tape = tapes.tape();
    const at =
      tape.sent.findIndex(([, , [data]]) => String(data).includes('response.output_audio.delta')) +
      1;
    expect(at).toBeGreaterThan(0);
    const other = altered(tape, at, ([, path, [data]]) => [
      'out',
      path,
      [String(data).replace('"delta":"', '"delta":"AAAA')],
    ]);
    const { difference, frames } = await replayTape(other);
    expect(frames).toBe(at - 1);
    expect(difference).toMatchObject({
      kind: 'frame',
      frame: at,
      expected: other.sent[at - 1],
      actual: tape.sent[at - 1],
    });
    const text = describeReplay(other, { difference, frames });
    expect(text).toMatch(
      new RegExp(`^frame ${at}, at \\d+\\.\\d{3} s, differs from character \\d+ on`),
    );
    expect(text).toMatch(/recorded: .*"delta":"AAAA.*\n {2}replayed: .*"delta":"(?!AAAA)/s);
  });

  it('the replay of a recorded session reports a changed arrival, and missing or extra frames', async () => {
    const { tapes } = await recorded();
    const tape = tapes.tape();
    const arrivals = tape.arrivals.map((arrival) =>
      arrival[0] === 'in' && String(arrival[3][0]).includes('tell me more')
        ? (['in', arrival[1], arrival[2], [String(arrival[3][0]).replace('more', 'less')]] as const)
        : arrival,
    );
    expect(await replayTape({ ...tape, arrivals })).toMatchObject({
      difference: { kind: 'frame' },
    });

    const short = { ...tape, arrivals: tape.arrivals.slice(0, 1) };
    expect(await replayTape(short)).toMatchObject({
      frames: 2,
      difference: { kind: 'frame', frame: 3, actual: undefined },
    });
    const more = { ...tape, sent: tape.sent.slice(0, 5) };
    expect(await replayTape(more)).toMatchObject({
      frames: 5,
      difference: { kind: 'frame', frame: 6, expected: undefined },
    });
  });

  it('the replay of a recorded session reports the first call to the outside that is not the recorded one', async () => {
    const { tapes } = await recorded();
    const tape = tapes.tape();
    const asked = tape.answers.findIndex(([, path]) => path === 'pipeline.llm.reply');
    const answers = tape.answers.map((answer, i) =>
      i === asked ? (['call', 'pipeline.llm.think', 'value', 1] as const) : answer,
    );
    expect(await replayTape({ ...tape, answers })).toMatchObject({
      difference: { kind: 'course', expected: 'pipeline.llm.think', actual: 'pipeline.llm.reply' },
    });
    const replay = await replayTape({ ...tape, answers });
    expect(describeReplay(tape, replay)).toContain(
      'the recording has pipeline.llm.think, the session came to pipeline.llm.reply',
    );
  });

  it('a session goes on when its recording is full, and the recording replays as far as it goes', async () => {
    const whole = (await recorded()).tapes.tape();
    const { ledger, tapes } = await recorded(memoryTapes(60_000));
    expect(ledger.openHolds()).toBe(0);
    const tape = tapes.tape();
    expect([tape.isFull, tape.sent.length < whole.sent.length]).toEqual([true, true]);
    const replay = await replayTape(tape);
    expect(replay).toEqual({ frames: tape.sent.length, difference: undefined });
    expect(describeReplay(tape, replay)).toMatch(/frames, all as recorded; the recording was full/);
  });

  it('a recorded session goes on after a result that cannot be recorded', async () => {
    const tapes = memoryTapes();
    const { say, session, socket } = await openSession({
      change: { tapes },
      open: (deps, input) =>
        openRealtime(deps, { ...input, pipeline: oddPipeline(input.pipeline) }),
    });
    await say('hello');
    await settleAll();
    session.socketClosed();
    await session.settled;
    expect(socket.of('response.done')).toHaveLength(1);
    const tape = tapes.tape();
    expect(tape.isFull).toBe(true);
    expect(await replayTape(tape)).toMatchObject({ difference: undefined });
  });

  it('a recorded session goes on after an utterance that was lost, and its replay does the same', async () => {
    const tapes = memoryTapes();
    const { say, session, socket, speak } = await openSession({
      change: { tapes },
      open: (deps, input) =>
        openRealtime(deps, { ...input, pipeline: lossyPipeline(input.pipeline) }),
    });
    for (let turn = 0; turn < 2; turn++) {
      await speak(tone(1_000, RATE));
      await speak(silence(900, RATE));
      await settleAll();
    }
    await say('hello');
    session.socketClosed();
    await session.settled;
    await settleAll();
    expect(socket.of('error')).toMatchObject([{ error: { code: 'ear_away' } }]);
    expect(socket.of('response.done').length).toBeGreaterThan(0);
    const tape = tapes.tape();
    expect(await replayTape(tape)).toEqual({ frames: tape.sent.length, difference: undefined });
  });

  it('the recording of a session holds no credential that its client named', async () => {
    const tapes = memoryTapes();
    const { send, session } = await openSession({ change: { tapes }, open: openRealtime });
    const tool = { type: 'mcp', server_url: 'https://acme.example', authorization: 'sk-hidden-1' };
    send({ type: 'session.update', session: { type: 'realtime', tools: [tool] } });
    send({ type: 'response.create', response: { metadata: { api_key: 'sk-hidden-2' } } });
    await settleAll();
    session.socketClosed();
    await session.settled;
    await settleAll();
    expect(tapes.bytes().includes('sk-hidden')).toBe(false);
    expect(await replayTape(tapes.tape())).toMatchObject({ difference: undefined });
  });
});

describe('an incomplete recording', () => {
  it('an incomplete recording is rejected with the place where it ends, wherever that is', async () => {
    const bytes = (await recorded()).tapes.bytes();
    expect(() => readTape(bytes.subarray(0, -1))).toThrow(
      /cut short: record \d+ begins at byte \d+/,
    );
    for (let at = 0; at < bytes.length; at += 997) {
      expect(() => readTape(bytes.subarray(0, at))).toThrow(/cut short|has no end|no recording/);
    }
    expect(() => readTape(Buffer.from('something else'))).toThrow('no recording');
    const header = readTape(bytes).header;
    expect(() => readTape(encodeHeader(header))).toThrow('breaks off after 0 whole records');
    const torn = Buffer.concat([encodeHeader(header), Buffer.from([0, 0, 0, 2, 0xd3, 0])]);
    expect(() => readTape(torn)).toThrow(/record 1 at byte \d+ is no record/);
    const noise = Buffer.concat([encodeHeader(header), Buffer.from(systemRandom.bytes(64))]);
    expect(() => readTape(noise)).toThrow();
    expect(
      readTape(Buffer.concat([encodeHeader(header), encodeRecord(['end', 'settled'])])),
    ).toMatchObject({ isFull: false, arrivals: [] });
  });
});
