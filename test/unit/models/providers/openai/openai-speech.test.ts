import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { createOpenAiSpeechRail } from '../../../../../src/models/providers/openai/openai-speech.ts';
import type { SpeechCall } from '../../../../../src/models/providers/speech-rail.ts';
import { WRITES_ANY_DEPTH } from '../../../../support/deep-json.ts';
import {
  answers,
  breaksAfter,
  hangsAfter,
  noise,
  speechUpstream,
} from '../../../../support/speech-upstream.ts';

const CALL: SpeechCall = {
  model: 'theirs',
  input: 'Hello.',
  format: 'mp3',
  wantsUsage: false,
  body: { model: 'ours', input: 'Hello.', stream_format: 'sse', odd: 1 },
};

async function rail(limits = {}) {
  const upstream = await speechUpstream();
  const target = { baseUrl: `${upstream.baseUrl}/`, apiKey: null };
  const made = createOpenAiSpeechRail({ upstream: target, clock: systemClock, limits });
  const speak = (more: Partial<SpeechCall> = {}, signal = new AbortController().signal) =>
    made.speak({ ...CALL, ...more }, signal);
  return {
    upstream,
    speak,
    makes: made.makes,
    async [Symbol.asyncDispose]() {
      await made[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

describe('speech of an OpenAI-compatible upstream', () => {
  it('an OpenAI speech rail requests the upstream’s model name, and events only when usage is billed', async () => {
    await using w = await rail();
    expect(await w.speak()).toMatchObject({ kind: 'completed', contentType: 'audio/mpeg' });
    await w.speak({ wantsUsage: true });
    expect(w.upstream.seen.map(({ body }) => body)).toEqual([
      { model: 'theirs', input: 'Hello.', odd: 1 },
      { model: 'theirs', input: 'Hello.', odd: 1, stream_format: 'sse' },
    ]);
    expect(w.upstream.seen[0]).toMatchObject({
      path: '/v1/audio/speech',
      authorization: undefined,
    });
  });

  it.each([
    [answers(500), { failure: 'broken', status: 500 }],
    [answers(302, {}, { location: 'http://x.example' }), { failure: 'broken', status: 302 }],
    [answers(429, {}, { 'retry-after': '7' }), { failure: 'rate_limited', retryAfterSeconds: 7 }],
    [answers(200, { error: 'none' }), { failure: 'broken', detail: 'not sound' }],
    [breaksAfter(Buffer.alloc(0)), { failure: 'broken' }],
  ])('an OpenAI speech rail fails when the response is no audio', async (play, told) => {
    await using w = await rail();
    w.upstream.plays.push(play);
    expect(await w.speak()).toMatchObject({ kind: 'failed', ...told });
  });

  it('an OpenAI speech rail relays the upstream’s own refusal', async () => {
    await using w = await rail();
    w.upstream.plays.push(answers(422, { detail: 'no' }));
    const declined = await w.speak();
    expect(declined).toMatchObject({ kind: 'declined', status: 422 });
    expect(declined.kind === 'declined' && Buffer.from(declined.body).toString()).toBe(
      '{"detail":"no"}',
    );
  });

  it('an OpenAI speech rail fails when the upstream is too slow or refuses the connection', async () => {
    await using w = await rail({ totalMs: 50 });
    w.upstream.plays.push((response) => void response.socket?.pause());
    expect(await w.speak()).toMatchObject({ kind: 'failed', failure: 'timeout' });
    const gone = createOpenAiSpeechRail({
      upstream: { baseUrl: 'http://127.0.0.1:1/v1', apiKey: null },
      clock: systemClock,
    });
    const { signal } = new AbortController();
    expect(await gone.speak(CALL, signal)).toMatchObject({ failure: 'unreachable' });
    await gone[Symbol.asyncDispose]();
  });

  it('an OpenAI speech rail refuses speech beyond its limit until other speech has ended', async () => {
    await using w = await rail({ inFlight: 1 });
    w.upstream.plays.push(hangsAfter(noise(10)));
    const first = await w.speak();
    expect(await w.speak()).toMatchObject({ failure: 'busy', retryAfterSeconds: 1 });
    if (first.kind === 'completed') first.sound.stop();
    expect((await w.speak()).kind).toBe('completed');
    await expect.poll(() => w.upstream.abandoned.count).toBe(1);
  });

  it('an OpenAI speech rail waits for a reader that is further behind than the limit of a chat stream', async () => {
    await using w = await rail();
    const sound = noise(MODEL_LIMITS.upstream.streamQueueBytes + 1024 * 1024);
    let isSent = false;
    w.upstream.plays.push((response) => {
      response.on('finish', () => {
        isSent = true;
      });
      response.writeHead(200, { 'content-type': 'audio/wav' });
      response.end(sound);
    });
    const speech = await w.speak();
    if (speech.kind !== 'completed') throw new Error(speech.kind);
    await expect.poll(() => isSent).toBe(true);
    let bytes = 0;
    for (let next = await speech.sound.next(); next; next = await speech.sound.next()) {
      bytes += next.length;
    }
    expect(bytes).toBe(sound.length);
  });

  it('an OpenAI speech rail breaks off audio above the size limit', async () => {
    await using w = await rail({ responseBytes: 20_000 });
    const speech = await w.speak();
    if (speech.kind !== 'completed') throw new Error(speech.kind);
    const all = async () => {
      while ((await speech.sound.next()) !== undefined);
    };
    await expect(all()).rejects.toThrow('it broke off');
  });

  it.skipIf(WRITES_ANY_DEPTH)(
    'an OpenAI speech rail reports a request that cannot be serialized as unfit',
    async () => {
      await using w = await rail();
      let odd: unknown[] = [];
      for (let i = 0; i < 100_000; i++) odd = [odd];
      expect(await w.speak({ body: { odd } })).toMatchObject({ kind: 'unfit' });
      expect(w.upstream.seen).toEqual([]);
    },
  );

  it('an OpenAI speech rail aborts when the client leaves before the first byte', async () => {
    await using w = await rail();
    w.upstream.plays.push(hangsAfter(Buffer.alloc(0)));
    const leaving = new AbortController();
    const asked = w.speak({}, leaving.signal);
    await expect.poll(() => w.upstream.seen.length).toBe(1);
    leaving.abort();
    expect(await asked).toEqual({ kind: 'aborted' });
  });
});
