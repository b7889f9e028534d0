import { describe, expect, it } from 'vitest';
import type { TranscriptionRequest } from '../../../../../src/models/transcription/transcription-request.ts';
import {
  createListenFiles,
  ListenFileQuery,
} from '../../../../../src/protocols/deepgram/listen/listen-file.ts';
import { aBuyer } from '../../../../support/a-buyer.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

/** What is bought for a query and a body. */
async function boughtFor(rawQuery: string, bytes: Buffer): Promise<TranscriptionRequest> {
  const bought: TranscriptionRequest[] = [];
  const files = createListenFiles({
    transcriptions: {
      async transcribe({ request }) {
        bought.push(request);
        return { status: 200, headers: {}, body: Buffer.from('{}'), upstreamMs: 0 } as never;
      },
    },
    catalogue: {
      find: (id) => (/^deepgram\/nova-3(-multilingual)?$/.test(id) ? ({ id } as never) : undefined),
      findKeyed: () => undefined,
    },
    clock: new ManualClock(),
  });
  const query = ListenFileQuery.parse(Object.fromEntries(new URLSearchParams(rawQuery)));
  const file = { bytes, contentType: 'audio/x-raw', name: 'sound' };
  const buyer = aBuyer({ agentId: 7, keyId: 3 });
  await files.hear({ buyer, requestId: 'req', query, rawQuery, file });
  const [request] = bought;
  if (request === undefined) throw new Error('nothing was bought');
  return request;
}

/** Returns the metadata that the answer of a request will have. */
async function metadataOf({ file, listen, model }: TranscriptionRequest) {
  const call = { model, file: { ...file, durationMs: 1_000 } };
  const rendered = await listen?.relay({}, call);
  return JSON.parse(String(rendered?.body)).metadata;
}

const MP3 = Buffer.from('ID3\x04');

describe('a file of Deepgram’s clients is bought', () => {
  it('a Deepgram client’s file is sent to the model under a name that shows its format', async () => {
    const { file } = await boughtFor('model=nova-3', MP3);
    expect(file).toMatchObject({ name: 'sound.mp3', contentType: 'audio/x-raw' });
  });

  it('a Deepgram client’s raw samples are sent to the model as a WAV file', async () => {
    const raw = Buffer.alloc(320);
    const { file } = await boughtFor('model=nova-3&encoding=mulaw&sample_rate=8000', raw);
    expect(file).toMatchObject({ name: 'sound.wav', contentType: 'audio/wav' });
    expect(file.bytes.subarray(0, 4).toString()).toBe('RIFF');
  });

  it('a Deepgram client’s request keeps every tag, and too many or too long tags are refused', async () => {
    const request = await boughtFor('model=nova-3&tag=one&tag=two', MP3);
    expect((await metadataOf(request)).tags).toEqual(['one', 'two']);
    const many = Array.from({ length: 101 }, () => '&tag=x').join('');
    await expect(boughtFor(`model=nova-3${many}`, MP3)).rejects.toMatchObject({ status: 400 });
    const long = `model=nova-3&tag=${'x'.repeat(10_000)}&tag=y`;
    await expect(boughtFor(long, MP3)).rejects.toMatchObject({ status: 400 });
  });

  it.each([
    ['model=nova-3&language=multi', 'multi'],
    ['model=nova-3&language=Multi', 'multi'],
    ['model=nova-3-multilingual', 'multi'],
    ['model=nova-3-multilingual&language=de', 'de'],
  ])('a Deepgram client’s file goes to the multilingual model for %s', async (query, language) => {
    const request = await boughtFor(query, MP3);
    expect(request).toMatchObject({ model: 'deepgram/nova-3-multilingual', language });
    const { model_info } = await metadataOf(request);
    expect(Object.values(model_info)).toMatchObject([{ name: 'deepgram/nova-3-multilingual' }]);
  });
});
