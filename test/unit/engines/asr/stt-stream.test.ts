import { describe, expect, it } from 'vitest';
import { createDecoderPool } from '../../../../src/engines/asr/decoder-pool.ts';
import type {
  Decoded,
  HearingState,
  SttContract,
} from '../../../../src/engines/asr/stt-contract.ts';
import { SharedStream } from '../../../../src/engines/asr/stt-stream.ts';
import { EngineCrashed, type Transcript } from '../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';
import { type Call, fakeWorkerClient } from '../../../support/fake-worker-client.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const LEARNED: HearingState = { adaptation: [1, 2], noiseFloor: 40, saidSamples: 0 };

const decoded = (transcripts: readonly Transcript[] = [], isBetween = false): Decoded => ({
  transcripts,
  workMs: 10,
  isBetween,
});

const nothing = ({ method }: Call): unknown => {
  if (method === 'leave') return LEARNED;
  return method === 'finish' ? decoded([], true) : decoded();
};

/** Decoders that answer so; `answer` gets the number of the decoder. */
function world(answer: (call: Call, decoder: number) => unknown = nothing, size = 1) {
  const clients: ReturnType<typeof fakeWorkerClient<SttContract>>[] = [];
  const clock = new ManualClock();
  const pool = createDecoderPool({
    size,
    makeClient() {
      const number = clients.length;
      const client = fakeWorkerClient<SttContract>((call) => answer(call, number));
      clients.push(client);
      return client;
    },
  });
  const calls = () => clients.flatMap((client) => client.calls);
  function listen({
    grammar,
    sampleRateHz = 16_000,
  }: {
    grammar?: string;
    sampleRateHz?: number;
  } = {}) {
    const heard = { transcripts: [] as Transcript[], failures: [] as Error[], closed: 0 };
    const work: [workMs: number, soundMs: number][] = [];
    const stream = new SharedStream({
      clock,
      pool,
      sampleRateHz,
      grammar,
      listener: {
        transcript: (transcript) => heard.transcripts.push(transcript),
        failed: (error) => heard.failures.push(error),
      },
      decoded: (workMs, soundMs) => work.push([workMs, soundMs]),
      closed: () => {
        heard.closed += 1;
      },
    });
    return { stream, heard, work };
  }
  return { calls, clients, clock, listen, pool };
}

const posted = (calls: readonly Call[]) =>
  calls.filter(({ method }) => method === 'push').map(({ argument }) => argument as Int16Array);
const methods = (calls: readonly Call[]) => calls.map(({ method }) => method);
const settled = () => new Promise(setImmediate);
const POST = 1_600;

describe('stt stream', () => {
  it('a recogniser stream posts every sample, 100 ms at a time, however the sound arrives', async () => {
    const { calls, listen } = world();
    const { stream, work } = listen();
    const sound = Int16Array.from({ length: 3_500 }, (_, i) => i);
    for (let at = 0; at < sound.length; at += 320) stream.push(sound.subarray(at, at + 320));
    expect(posted(calls()).map(({ length }) => length)).toEqual([1_600, 1_600]);
    await stream.endUtterance();
    expect(posted(calls()).flatMap((pcm) => [...pcm])).toEqual([...sound]);
    expect(work).toEqual([
      [10, 100],
      [10, 100],
      [10, 18.75],
    ]);
  });

  it('a recogniser stream resamples telephone sound to 16 kHz, to the last sample', async () => {
    const { calls, listen } = world();
    const { stream } = listen({ sampleRateHz: 8_000 });
    stream.push(new Int16Array(8_000));
    await stream.endUtterance();
    const samples = posted(calls()).reduce((sum, { length }) => sum + length, 0);
    expect(Math.abs(samples - 16_000)).toBeLessThanOrEqual(64);
  });

  it('a recogniser stream delivers the final transcript before the end of the utterance resolves', async () => {
    const final = { text: 'hello', isFinal: true };
    const { listen } = world((call) =>
      call.method === 'finish' ? decoded([final], true) : nothing(call),
    );
    const { heard, stream } = listen();
    stream.push(new Int16Array(100));
    await stream.endUtterance();
    expect(heard.transcripts).toEqual([final]);
  });

  it('a recogniser stream has a decoder for one utterance, and brings the learned state to the next', async () => {
    const { calls, listen, pool } = world();
    const { stream } = listen({ grammar: 'g' });
    expect(pool.taken).toBe(0);
    stream.push(new Int16Array(POST));
    expect(pool.taken).toBe(1);
    await stream.endUtterance();
    await settled();
    expect(pool.taken).toBe(0);
    stream.push(new Int16Array(POST));
    await stream.endUtterance();
    const starts = calls().filter(({ method }) => method === 'start');
    expect(starts.map(({ argument }) => argument)).toEqual([
      { grammar: 'g', state: undefined },
      { grammar: 'g', state: LEARNED },
    ]);
  });

  it('recogniser streams of twenty callers who speak at once over four decoders transcribe every utterance', async () => {
    const hears = ({ method }: Call) =>
      method === 'finish'
        ? decoded([{ text: 'yes', isFinal: true }], true)
        : nothing({ method, argument: null });
    const { clients, listen, pool } = world(hears, 4);
    const callers = Array.from({ length: 20 }, () => listen());
    for (let turn = 0; turn < 2; turn++) {
      for (const { stream } of callers) stream.push(new Int16Array(10 * POST));
      expect(pool.waiting).toBe(16);
      await Promise.all(callers.map(({ stream }) => stream.endUtterance()));
    }
    expect(callers.map(({ heard }) => heard.transcripts.length)).toEqual(new Array(20).fill(2));
    expect(callers.flatMap(({ heard }) => heard.failures)).toEqual([]);
    expect(clients.length).toBe(4);
  });

  it('a recogniser stream gives its decoder to a waiting stream as soon as all its sound is transcribed', async () => {
    const { calls, listen, pool } = world((call) =>
      call.method === 'push' ? decoded([], true) : nothing(call),
    );
    const [talker, other] = [listen(), listen()];
    talker.stream.push(new Int16Array(POST));
    other.stream.push(new Int16Array(POST));
    expect(pool.waiting).toBe(1);
    await settled();
    expect(methods(calls())).toEqual(['start', 'push', 'leave', 'start', 'push']);
    talker.stream.push(new Int16Array(POST));
    await other.stream.endUtterance();
    await talker.stream.endUtterance();
    expect(posted(calls()).length).toBe(3);
    expect(talker.heard.failures).toEqual([]);
  });

  it('a recogniser stream whose sound stops gives its decoder back, and later replays the utterance from its start', async () => {
    const { calls, clock, listen, pool } = world();
    const { heard, stream } = listen();
    stream.push(new Int16Array(POST).fill(1));
    await settled();
    expect(pool.taken).toBe(1);
    clock.advance(ENGINE_LIMITS.decoder.stallMs);
    expect(pool.taken).toBe(0);
    stream.push(new Int16Array(POST).fill(2));
    await stream.endUtterance();
    expect(posted(calls()).map(([first]) => first)).toEqual([1, 1, 2]);
    expect(heard.failures).toEqual([]);
  });

  it('a recogniser stream replays the whole utterance once to another decoder when its decoder is lost', async () => {
    const final = { text: 'hello', isFinal: true };
    let isLost = true;
    const { calls, listen } = world((call) => {
      if (call.method === 'push' && isLost) return Promise.reject(new EngineCrashed('gone'));
      return call.method === 'finish' ? decoded([final], true) : nothing(call);
    });
    const { heard, stream } = listen();
    stream.push(new Int16Array(POST).fill(1));
    stream.push(new Int16Array(POST).fill(2));
    isLost = false;
    await settled();
    stream.push(new Int16Array(POST).fill(3));
    await stream.endUtterance();
    expect(posted(calls()).map(([first]) => first)).toEqual([1, 2, 1, 2, 3]);
    expect(heard).toMatchObject({ transcripts: [final], failures: [], closed: 0 });
  });

  it('a recogniser stream reports a failure once, gives its decoder back once, and resolves its callers', async () => {
    const { listen, pool } = world(() => Promise.reject(new EngineCrashed('gone')));
    const { heard, stream } = listen();
    stream.push(new Int16Array(3_200));
    await stream.endUtterance();
    stream.push(new Int16Array(3_200));
    stream.close();
    await stream.endUtterance();
    expect(heard.failures.map(({ message }) => message)).toEqual(['gone']);
    expect([heard.closed, pool.taken]).toEqual([1, 0]);
  });

  it('a recogniser stream fails when its decoder falls too far behind, instead of buffering without end', () => {
    const { calls, listen } = world(() => new Promise(() => {}));
    const { heard, stream } = listen();
    const second = new Int16Array(16_000);
    for (let s = 0; s < ENGINE_LIMITS.decoder.behindSeconds + 10; s++) stream.push(second);
    expect(heard.failures.length).toBe(1);
    expect(posted(calls()).length).toBe(ENGINE_LIMITS.decoder.behindSeconds * 10);
  });

  it('a recogniser stream does not count transcribed sound as backlog', async () => {
    const { listen } = world((call) =>
      call.method === 'push' ? decoded([], true) : nothing(call),
    );
    const { heard, stream } = listen();
    const second = new Int16Array(16_000);
    for (let s = 0; s < ENGINE_LIMITS.decoder.behindSeconds + 10; s++) {
      stream.push(second);
      await Promise.resolve();
      await settled();
    }
    expect(heard.failures).toEqual([]);
  });

  it('a closed recogniser stream delivers nothing, and waits for no decoder', async () => {
    let reply: (decoded: Decoded) => void = () => {};
    const { listen, pool } = world(
      ({ method }) => method === 'push' && new Promise((resolve) => (reply = resolve)),
    );
    const [first, second] = [listen(), listen()];
    first.stream.push(new Int16Array(POST));
    second.stream.push(new Int16Array(POST));
    second.stream.close();
    first.stream.close();
    reply(decoded([{ text: 'late', isFinal: false }]));
    await settled();
    expect(first.heard.transcripts).toEqual([]);
    expect([first.heard.closed, second.heard.closed, pool.taken, pool.waiting]).toEqual([
      1, 1, 0, 0,
    ]);
  });
});
