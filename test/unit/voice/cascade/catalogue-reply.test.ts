import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { takeBillFrom } from '../../../../src/voice/cascade/cascade-pipeline.ts';
import { CatalogueReply } from '../../../../src/voice/cascade/catalogue-reply.ts';
import { UnbilledCharges } from '../../../../src/voice/cascade/unbilled-charges.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import type { LlmPiece } from '../../../../src/voice/session/voice-pipeline.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordedSpan } from '../../../support/recorded-span.ts';
import { callEvent, deltaEvent, finishEvent, textEvent } from '../../../support/stream-upstream.ts';

const source: Source = {
  rail: 'direct-account',
  provider: 'p',
  upstreamModel: 'm',
  marginBps: 0,
  rates: { text_input_token: 1n, text_output_token: 1n },
};

/** An answer of ten tokens at most, at an upstream in memory that sends a script and no usage. */
function openReply(eventOf: (nth: number) => string, count = 10_000) {
  const upstream = { events: 0, chars: 0, isStopped: false };
  const tab = new UnbilledCharges();
  const reply = new CatalogueReply({
    body: { model: 'm', messages: [{ role: 'user', content: 'four' }], max_tokens: 10 },
    most: { inputTokens: 12, cachedTokens: 0, outputTokens: 10 },
    open: async () => ({
      source,
      share: tab.expect(0n),
      stream: {
        async next() {
          if (upstream.isStopped || upstream.events === count) return undefined;
          const event = Buffer.from(eventOf(upstream.events++));
          upstream.chars += event.length;
          return event;
        },
        metered: () => ({ usage: null, answerChars: upstream.chars }),
        stop() {
          upstream.isStopped = true;
        },
      },
    }),
    signal: new AbortController().signal,
  });
  return { reply, tab, upstream };
}

async function read(reply: CatalogueReply): Promise<LlmPiece[]> {
  const pieces: LlmPiece[] = [];
  for (let piece = await reply.next(); piece !== undefined; piece = await reply.next()) {
    pieces.push(piece);
  }
  return pieces;
}

const KILO = 'y'.repeat(1_000);
const most = (chars: number) => Math.floor(chars / 1_000) + 1;
const once = (nth: number, given: object) => (nth === 0 ? given : { arguments: KILO });

describe('CatalogueReply', () => {
  it.each<[string, (nth: number) => string, number]>([
    ['words', () => textEvent(KILO), most(VOICE_LIMITS.realtime.replyChars)],
    [
      'one call',
      (nth) => callEvent(0, once(nth, { name: 'f', arguments: KILO })),
      most(MODEL_LIMITS.link.itemChars),
    ],
    [
      'calls',
      (nth) => callEvent(nth, { name: 'f', arguments: '{}' }),
      VOICE_LIMITS.realtime.tools + 1,
    ],
    [
      'large calls',
      (nth) => callEvent(nth, { name: 'f', arguments: JSON.stringify(KILO.repeat(10)) }),
      Math.ceil(VOICE_LIMITS.realtime.answerChars / 10_002),
    ],
    [
      'reasoning',
      () => deltaEvent({ reasoning_content: KILO }),
      most(VOICE_LIMITS.realtime.answerChars),
    ],
    ['reasoning', () => deltaEvent({ reasoning: KILO }), most(VOICE_LIMITS.realtime.answerChars)],
  ])(
    'CatalogueReply stops the purchase of an endless answer of %s, and reports the answer as cut',
    async (_, eventOf, events) => {
      const { reply, upstream } = openReply(eventOf);
      await read(reply);
      expect(upstream).toMatchObject({ events, isStopped: true });
      expect(reply.cut).toBe('max_output_tokens');
    },
  );

  it('CatalogueReply bills no more tokens than were requested when the upstream reports none', async () => {
    const { reply, tab } = openReply(() => textEvent(KILO));
    await read(reply);
    expect(tab.take()).toMatchObject([
      { usage: { text_input_token: 1, text_output_token: 10 }, isEstimated: true },
    ]);
  });

  it('CatalogueReply stops the purchase when the upstream reports an error, after the words before the error', async () => {
    const { reply, upstream } = openReply((nth) =>
      nth === 0 ? textEvent('a') : finishEvent('error'),
    );
    expect(await reply.next()).toEqual({ kind: 'text', text: 'a' });
    await expect(reply.next()).rejects.toMatchObject({ code: 'upstream_broke_off' });
    expect(upstream).toMatchObject({ events: 2, isStopped: true });
  });

  it('CatalogueReply takes an answer of the longest length in full', async () => {
    const { reply, upstream } = openReply(
      () => textEvent('x'.repeat(VOICE_LIMITS.realtime.replyChars)),
      1,
    );
    expect(await read(reply)).toHaveLength(1);
    expect([upstream.isStopped, reply.cut]).toEqual([false, undefined]);
  });

  it.each([true, false])(
    'CatalogueReply puts tokens, model and finish reason on a span that is recorded: %s',
    async (isRecorded) => {
      const span = Object.assign(new RecordedSpan('chat m'), { isRecorded });
      let notes = 0;
      const note = () => {
        notes += 1;
        return { model: 'm-2026', finishReasons: ['stop'] };
      };
      const usage = { inputTokens: 12, cachedTokens: 8, cacheWriteTokens: 2, outputTokens: 3 };
      const tab = new UnbilledCharges();
      const reply = new CatalogueReply({
        body: { model: 'm', messages: [{ role: 'user', content: 'four' }] },
        most: usage,
        open: async () => ({
          source,
          span,
          share: tab.expect(0n),
          stream: {
            next: async () => undefined,
            metered: () => ({ usage, answerChars: 9, note }),
            stop() {},
          },
        }),
        signal: new AbortController().signal,
      });
      await read(reply);
      const chargesByHold = {
        take: () => tab.take().map((bought) => ({ bought, sessionHold: 'main' })),
      };
      const breaker = createSourceRests({ clock: new ManualClock() });
      const takeBill = takeBillFrom({ breaker, log: silentLog }, chargesByHold as never);
      const [charge] = takeBill({} as never, 1);
      expect(charge).not.toHaveProperty('noted');
      expect(charge).not.toHaveProperty('span');
      expect(notes).toBe(isRecorded ? 1 : 0);
      expect(span.attributes).toEqual(
        isRecorded
          ? {
              'gen_ai.usage.input_tokens': 12,
              'gen_ai.usage.output_tokens': 3,
              'gen_ai.usage.cache_read.input_tokens': 8,
              'gen_ai.usage.cache_creation.input_tokens': 2,
              'gen_ai.response.model': 'm-2026',
              'gen_ai.response.finish_reasons': ['stop'],
              'svc.usage.text_input_token': expect.any(Number),
              'svc.usage.text_output_token': 3,
            }
          : {},
      );
    },
  );
});
