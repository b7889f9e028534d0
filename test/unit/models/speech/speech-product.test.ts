import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import type { SpeechFormat, SpeechRail } from '../../../../src/models/providers/speech-rail.ts';
import type { Buyer } from '../../../../src/models/purchase/buyer.ts';
import type { Quote } from '../../../../src/models/purchase/product.ts';
import { pooledSources } from '../../../../src/models/routing/keyed-sources.ts';
import { speechProduct } from '../../../../src/models/speech/speech-product.ts';
import { ratesOf } from '../../../support/rates-of.ts';

const source = (provider: string, rate: string): Source => ({
  rail: 'self-host',
  provider,
  upstreamModel: 'm',
  marginBps: 0,
  rates: ratesOf({ character: rate }),
});

function plan(
  makes: Readonly<Record<string, readonly SpeechFormat[]>>,
  response_format?: SpeechFormat | null,
) {
  const model: Model = {
    id: 'acme/voice',
    modality: 'tts',
    contextWindow: null,
    maxOutputTokens: null,
    sources: [source('cheap', '1'), source('dear', '20')],
  };
  const railOf = ({ provider }: Source): SpeechRail | undefined => {
    const made = makes[provider];
    if (made === undefined) return undefined;
    return { makes: (format) => made.includes(format), speak: async () => ({ kind: 'aborted' }) };
  };
  const body = { model: model.id, input: 'Hello.', response_format };
  const { quote } = speechProduct({ rails: { railOf } });
  const { bound, offers } = quote(
    { model: model.id, body },
    pooledSources(model),
    {} as Buyer,
  ) as Quote<SpeechFormat, SpeechRail>;
  return [bound, ...offers.map((offer) => offer.source.provider)];
}

function refusal(...args: Parameters<typeof plan>): ApiError {
  try {
    plan(...args);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('it was not refused');
}

const LOCAL = ['wav', 'pcm'] as const;
const ALL = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;

describe('a plan of speech', () => {
  it('a speech request uses the sources that make the requested format, cheapest first', () => {
    expect(plan({ cheap: LOCAL, dear: ALL }, 'wav')).toEqual(['wav', 'cheap', 'dear']);
    expect(plan({ cheap: LOCAL, dear: ALL }, 'opus')).toEqual(['opus', 'dear']);
  });

  it('a speech request without a format uses mp3 when a source makes it, else WAV', () => {
    expect(plan({ cheap: LOCAL, dear: ALL })).toEqual(['mp3', 'dear']);
    expect(plan({ cheap: LOCAL }, null)).toEqual(['wav', 'cheap']);
  });

  it('a speech request for an unavailable format is refused with the available formats', () => {
    const { error, fields, status } = refusal({ cheap: LOCAL, dear: ['pcm'] }, 'mp3');
    expect([status, error, fields.param]).toEqual([400, 'invalid_request', 'response_format']);
    expect(fields.message).toBe('"acme/voice" is not made as mp3 here; it is as wav and pcm.');
    expect(refusal({ cheap: ['pcm'] }).fields.message).toContain('not made as mp3 or wav here');
  });

  it('a speech request for a model without a rail is refused with no_source_available', () => {
    expect(refusal({}, 'wav')).toMatchObject({ status: 503, error: 'no_source_available' });
  });
});
