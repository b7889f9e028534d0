import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../../../media/wav.ts';
import { PHONE_LIMITS } from '../../../../src/phone/limits.ts';
import { fetchSound } from '../../../../src/phone/voice/sound-file.ts';
import type {
  GuardedClient,
  GuardedRequest,
} from '../../../../src/platform/egress/guarded-client.ts';
import { bytesOf, tone } from '../../../support/voice-fakes.ts';

const wav = (ms: number, sampleRateHz = 16_000) => {
  const pcm = bytesOf(tone(ms, sampleRateHz));
  const header = wavHeader({ coding: 'linear16', sampleRateHz, dataBytes: pcm.length });
  return Buffer.concat([header, pcm]);
};
const samplesOf = (blocks: Iterable<Int16Array>) =>
  [...blocks].reduce((sum, block) => sum + block.length, 0);

function client(status: number, body: Uint8Array) {
  const asked: { url: string; request: GuardedRequest }[] = [];
  let discarded = 0;
  const guarded = {
    open: async (url: string) => ({ url, origin: '', host: '', addresses: [] }),
    async send({ url }: { url: string }, request: GuardedRequest) {
      asked.push({ url, request });
      return {
        status,
        headers: [],
        body: (async function* () {
          yield body;
        })(),
        whole: () => undefined,
        discard() {
          discarded++;
        },
      };
    },
  } as unknown as GuardedClient;
  return { asked, guarded, discarded: () => discarded };
}

const { signal } = new AbortController();

describe('a sound that a responder names', () => {
  it('a sound file is fetched once, within its limits, and decoded at its own rate', async () => {
    const { asked, guarded } = client(200, wav(500));
    const sound = await fetchSound(guarded, 'https://a.example/hold.wav', signal);
    expect(sound.sampleRateHz).toBe(16_000);
    expect(samplesOf(sound.blocks)).toBe(8_000);
    expect(asked).toMatchObject([
      {
        url: 'https://a.example/hold.wav',
        request: {
          method: 'GET',
          maxResponseBytes: PHONE_LIMITS.sound.bytes,
          timeouts: { totalMs: PHONE_LIMITS.sound.fetchMs },
        },
      },
    ]);
  });

  it('a sound file is not played when its address answers anything but 200', async () => {
    const { discarded, guarded } = client(302, wav(10));
    await expect(fetchSound(guarded, 'https://a.example/x', signal)).rejects.toMatchObject({
      name: 'SoundUnfit',
    });
    expect(discarded()).toBe(1);
  });

  it('a sound file larger than the limit is not played', async () => {
    const { guarded } = client(200, new Uint8Array(PHONE_LIMITS.sound.bytes + 1));
    await expect(fetchSound(guarded, 'https://a.example/x', signal)).rejects.toThrow();
  });

  const fetched = (file: Uint8Array) =>
    fetchSound(client(200, file).guarded, 'https://a.example/x', signal);

  it('a sound file is refused when it is no WAV, or has an unsupported sample rate', async () => {
    await expect(fetched(Buffer.from('ID3 an mp3'))).rejects.toMatchObject({ name: 'SoundUnfit' });
    await expect(fetched(wav(10, 96_000))).rejects.toThrow('96000 Hz');
  });

  it('a sound file is cut to its longest time', async () => {
    const seconds = PHONE_LIMITS.sound.seconds;
    const { blocks } = await fetched(wav((seconds + 5) * 1_000, 8_000));
    expect(samplesOf(blocks)).toBe(seconds * 8_000);
  });
});
