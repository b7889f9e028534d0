import { describe, expect, it } from 'vitest';
import type { SttContract } from '../../../../src/engines/asr/stt-contract.ts';
import { openSttStream } from '../../../../src/engines/asr/stt-stream.ts';
import type { Transcript } from '../../../../src/engines/engine.ts';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { type Call, fakeWorkerClient } from '../../../support/fake-worker-client.ts';

function world(answer: (call: Call) => unknown, sampleRateHz = 16_000) {
  const client = fakeWorkerClient<SttContract>(answer);
  const transcripts: Transcript[] = [];
  const failures: Error[] = [];
  const released: number[] = [];
  const stream = openSttStream({
    client,
    sampleRateHz,
    listener: {
      transcript: (transcript) => transcripts.push(transcript),
      failed: (error) => failures.push(error),
    },
    released: (undecoded) => released.push(undecoded),
  });
  return { client, stream, transcripts, failures, released };
}

const posted = (calls: readonly Call[]) =>
  calls.filter(({ method }) => method === 'push').map(({ argument }) => argument as Int16Array);
const nothing = () => [];

describe('stt stream', () => {
  it('posts 100 ms at a time, however the sound arrives, and every sample of it', async () => {
    const { client, stream } = world(nothing);
    const sound = Int16Array.from({ length: 3_500 }, (_, i) => i);
    for (let at = 0; at < sound.length; at += 320) stream.push(sound.subarray(at, at + 320));
    expect(posted(client.calls).map(({ length }) => length)).toEqual([1_600, 1_600]);
    await stream.endUtterance();
    expect(posted(client.calls).flatMap((pcm) => [...pcm])).toEqual([...sound]);
    expect(client.calls.at(-1)?.method).toBe('finish');
  });

  it('hears a telephone at 16 kHz, to the last sample', async () => {
    const { client, stream } = world(nothing, 8_000);
    stream.push(new Int16Array(8_000));
    await stream.endUtterance();
    const samples = posted(client.calls).reduce((sum, { length }) => sum + length, 0);
    expect(Math.abs(samples - 16_000)).toBeLessThanOrEqual(64);
  });

  it('delivers the final before the end of the utterance resolves', async () => {
    const final = { text: 'hello', isFinal: true };
    const { stream, transcripts } = world(({ method }) => (method === 'finish' ? [final] : []));
    stream.push(new Int16Array(100));
    await stream.endUtterance();
    expect(transcripts).toEqual([final]);
  });

  it('tells of a failure once, gives the decoder back once, and resolves what waits', async () => {
    const { stream, failures, released } = world(() => Promise.reject(new Error('gone')));
    stream.push(new Int16Array(3_200));
    await stream.endUtterance();
    stream.push(new Int16Array(3_200));
    stream.close();
    await stream.endUtterance();
    expect(failures.map(({ message }) => message)).toEqual(['gone']);
    expect(released.length).toBe(1);
  });

  it('fails a stream whose decoder falls too far behind, instead of keeping its sound for ever', () => {
    const { client, stream, failures, released } = world(() => new Promise(() => {}));
    const second = new Int16Array(16_000);
    for (let s = 0; s < LIMITS.engines.decoderBehindSeconds + 10; s++) stream.push(second);
    expect(failures.length).toBe(1);
    expect(posted(client.calls).length).toBe(LIMITS.engines.decoderBehindSeconds * 10);
    expect(released[0]).toBeGreaterThan(LIMITS.engines.decoderBehindSeconds * 16_000);
  });

  it('delivers nothing after it was closed', async () => {
    let reply: (transcripts: readonly Transcript[]) => void = () => {};
    const { stream, transcripts, released } = world(
      () => new Promise((resolve) => (reply = resolve)),
    );
    stream.push(new Int16Array(1_600));
    stream.close();
    reply([{ text: 'late', isFinal: false }]);
    await new Promise(setImmediate);
    expect(transcripts).toEqual([]);
    expect(released).toEqual([1_600]);
  });
});
