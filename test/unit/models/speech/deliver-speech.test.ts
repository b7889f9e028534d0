import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { StreamBroken } from '../../../../src/models/providers/openai/answer-reader.ts';
import type { Speech, SpeechTokens } from '../../../../src/models/providers/speech-rail.ts';
import type { Metered } from '../../../../src/models/purchase/clamp-usage.ts';
import type { HeldPurchase } from '../../../../src/models/purchase/settle.ts';
import { deliverSpeech } from '../../../../src/models/speech/deliver-speech.ts';
import { meterSpeech } from '../../../../src/models/speech/speech-usage.ts';
import { SendFailed } from '../../../../src/platform/egress/send-failed.ts';
import { ratesOf } from '../../../support/rates-of.ts';

type Piece = string | Error;

/** Speech of these pieces that was bought, and what becomes of it. */
function bargain(pieces: readonly Piece[], options: { tokens?: boolean; fails?: Error } = {}) {
  const { tokens = false, fails } = options;
  const settled: Metered[] = [];
  const told = {
    stops: 0,
    usage: null as SpeechTokens | null,
    errors: [] as (string | undefined)[],
  };
  let given = 0;
  const bought: HeldPurchase<Speech> = {
    kind: 'bought',
    outcome: {
      kind: 'completed',
      status: 200,
      contentType: 'audio/mpeg',
      sound: {
        async next() {
          const piece = pieces[given++];
          if (piece instanceof Error) throw piece;
          return piece === undefined ? undefined : Buffer.from(piece);
        },
        usage: () => told.usage,
        stop: () => {
          told.stops++;
        },
      },
    },
    served: { model: 'acme/voice', rail: 'self-host', attempts: 1 },
    source: {
      rail: 'self-host',
      provider: 'p',
      upstreamModel: 'm',
      marginBps: 0,
      rates: ratesOf(tokens ? { audio_output_token: '12' } : { character: '15' }),
    },
    upstreamMs: 5,
    budget: async () => ({ advisory: undefined, remainingRaw: 9n }),
    async settle(error) {
      told.errors.push(error);
      if (fails !== undefined) throw fails;
      settled.push(meterSpeech(request(), told.usage, bought.source));
      return { chargedRaw: 77n };
    },
  };
  const deliver = (stream_format?: 'sse') =>
    deliverSpeech(
      { log: silentLog, signal: new AbortController().signal },
      request(stream_format),
      {
        ...bought,
      },
    );
  return { deliver, settled, told };
}

const request = (stream_format?: 'sse') => ({
  model: 'acme/voice',
  input: 'Hello.',
  stream_format,
});

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const piece of body) text += Buffer.from(piece).toString();
  return text;
}

describe('a file of speech', () => {
  it('a speech file is settled before its headers, which have its cost, and is sent unchanged', async () => {
    const { deliver, settled } = bargain(['one ', 'two']);
    const answer = await deliver();
    expect(settled).toEqual([{ usage: { character: 6 }, estimated: false }]);
    expect(answer.headers).toMatchObject({
      'content-type': 'audio/mpeg',
      'x-svc-cost-usdc': '77',
      'x-svc-payment': 'gateway',
    });
    expect(await textOf(answer.body)).toBe('one two');
    expect(settled).toHaveLength(1);
  });

  it('a speech file that breaks is cut off, and its charge stands', async () => {
    const { deliver, settled } = bargain(['one', new StreamBroken('gone')]);
    const { body } = await deliver();
    await expect(textOf(body)).rejects.toThrow(SendFailed);
    expect(settled).toHaveLength(1);
  });

  it('a speech file’s upstream is stopped once when the client leaves, even before the first piece', async () => {
    const { deliver, told } = bargain(['one', 'two']);
    const parts = (await deliver()).body[Symbol.asyncIterator]();
    await parts.return?.();
    await parts.return?.();
    expect(told.stops).toBe(1);
    expect(await parts.next()).toMatchObject({ done: true });
  });

  it('a speech file’s upstream is stopped when its settlement fails', async () => {
    const { deliver, told } = bargain(['one'], { fails: new Error('the ledger is away') });
    await expect(deliver()).rejects.toThrow('the ledger is away');
    expect(told.stops).toBe(1);
  });
});

describe('speech in events', () => {
  it('a speech event stream has its cost in the headers when the cost is known beforehand', async () => {
    const { deliver, settled } = bargain(['one']);
    const { body, headers } = await deliver('sse');
    expect(headers['content-type']).toMatch(/^text\/event-stream/);
    expect(headers['x-svc-cost-usdc']).toBe('77');
    expect(settled).toHaveLength(1);
    const usage =
      '{"input_tokens":2,"output_tokens":9,"total_tokens":11,"characters":6,"estimated":true}';
    expect(await textOf(body)).toBe(
      'data: {"type":"speech.audio.delta","audio":"b25l"}\n\n' +
        `data: {"type":"speech.audio.done","usage":${usage}}\n\n`,
    );
    expect(settled).toHaveLength(1);
  });

  it('a speech event stream has its cost after its last event when the upstream reports the usage', async () => {
    const { deliver, settled, told } = bargain(['one'], { tokens: true });
    const { body, headers } = await deliver('sse');
    expect(headers).not.toHaveProperty('x-svc-cost-usdc');
    expect(settled).toEqual([]);
    told.usage = { inputTokens: 3, outputTokens: 40 };
    const text = await textOf(body);
    expect(text).toContain('"usage":{"input_tokens":3,"output_tokens":40,"total_tokens":43');
    expect(text).not.toContain('estimated');
    expect(text.endsWith(': svc-cost-usdc=77\n\n')).toBe(true);
    expect(settled).toEqual([
      { usage: { character: 6, audio_output_token: 40 }, estimated: false },
    ]);
  });

  it('a speech event stream that breaks ends with an error and is settled once', async () => {
    const pieces = ['one', new StreamBroken('gone')];
    const { deliver, settled, told } = bargain(pieces, { tokens: true });
    const text = await textOf((await deliver('sse')).body);
    expect(text).toContain('upstream_broke_off');
    expect(text).not.toContain('speech.audio.done');
    expect(settled).toEqual([expect.objectContaining({ estimated: true })]);
    expect(told.errors, 'the trace shows the break').toEqual(['broken']);
  });

  it('a speech event stream is settled once when the client leaves', async () => {
    const { deliver, settled, told } = bargain(['one', 'two'], { tokens: true });
    const parts = (await deliver('sse')).body[Symbol.asyncIterator]();
    await parts.next();
    await Promise.all([parts.return?.(), parts.return?.()]);
    expect([settled.length, told.stops]).toEqual([1, 1]);
  });
});
