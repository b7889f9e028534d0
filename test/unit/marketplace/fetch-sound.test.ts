import { describe, expect, it } from 'vitest';
import { encodeWav } from '../../../media/wav.ts';
import { ApiError } from '../../../src/kernel/api-error.ts';
import { createBytesInFlight } from '../../../src/marketplace/bytes-in-flight.ts';
import { createFileFetch } from '../../../src/marketplace/fetch-file.ts';
import { createSoundFetch } from '../../../src/marketplace/fetch-sound.ts';
import { BlockedDestination } from '../../../src/platform/egress/blocked-destination.ts';
import { BodyTooLarge, SendFailed } from '../../../src/platform/egress/send-failed.ts';
import { controlErrors } from '../../../src/spend/errors.ts';
import {
  fakeAnswer,
  placeOf,
  type ScriptedAnswer,
  scriptedClient,
} from '../../support/fakes/scripted-client.ts';
import { askerNamed } from '../../support/guarded.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const WAV = encodeWav(new Int16Array(1_600), 8_000);

/** An hour and a second. */
const LONG = encodeWav(new Int16Array(1_000 * 3_601), 1_000);

/** Fetches from a web of these answers, by their URLs. */
function web(
  pages: Readonly<Record<string, ScriptedAnswer | Error>>,
  admitHost: (host: string) => Promise<void> = async () => {},
  clock = new ManualClock(),
  room = { inAll: 2 ** 30, perAccount: 2 ** 30 },
) {
  const { client, opened, sent } = scriptedClient({
    open(url) {
      if (url.includes('private')) throw new BlockedDestination('not public');
      return placeOf(url);
    },
    send({ destination }) {
      const page = pages[destination.url];
      if (page instanceof Error) throw page;
      return fakeAnswer(page ?? { status: 404 });
    },
  });
  const leaving = new AbortController();
  const fetchSound = createSoundFetch(createFileFetch({ client, clock }));
  const share = createBytesInFlight(room)('acct_1');
  const caller = { admitHost, asker: askerNamed('a'), share, signal: leaving.signal };
  return {
    opened,
    sent,
    leaving,
    get: (url: string) => fetchSound(url, caller),
    refusal: (url: string) =>
      fetchSound(url, caller).then(
        () => undefined,
        (error: unknown) => error as ApiError,
      ),
  };
}

const sound = (headers: ScriptedAnswer['headers'] = []): ScriptedAnswer => ({ headers, body: WAV });
const to = (location: string): ScriptedAnswer => ({
  status: 302,
  headers: [['location', location]],
});

describe('a file of sound', () => {
  it('the sound fetcher downloads a whole audio file and measures its duration from its bytes', async () => {
    const url = 'https://a.example/dir/talk.wav?x=1';
    const { get, sent } = web({ [url]: sound([['Content-Type', 'audio/wav']]) });
    const file = await get(url);
    expect(file).toMatchObject({ durationMs: 200, contentType: 'audio/wav', name: 'talk.wav' });
    expect(file.bytes).toEqual(Buffer.from(WAV));
    expect(sent[0]?.request).toMatchObject({ method: 'GET', maxResponseBytes: 26_214_400 });
  });

  it('a fetched audio file gets a safe name and content type when its own could break a form', async () => {
    const url = 'https://a.example/a%22b%0d%0a';
    const { get } = web({ [url]: sound([['content-type', 'text/html; x="']]) });
    expect(await get(url)).toMatchObject({
      name: 'sound',
      contentType: 'application/octet-stream',
    });
  });

  it('the sound fetcher follows up to three redirects and has the guard check each of them', async () => {
    const pages = {
      'https://a.example/0': to('/1'),
      'https://a.example/1': to('https://b.example/2'),
      'https://b.example/2': to('3'),
      'https://b.example/3': sound(),
      'https://a.example/far': to('/0'),
      'https://a.example/in': to('https://private.example/'),
    };
    const three = web(pages);
    expect((await three.get('https://a.example/0')).durationMs).toBe(200);
    expect(three.opened).toHaveLength(4);
    const refused = await web(pages).refusal('https://a.example/far');
    expect(refused).toMatchObject({ status: 400, fields: { message: 'audioUrl: answered 302' } });
    const inside = await web(pages).refusal('https://a.example/in');
    expect(inside).toMatchObject({ status: 400, error: 'blocked_destination' });
  });

  it.each([
    ['that is not there', { status: 404 }, 400, 'audioUrl: answered 404'],
    ['that is no sound', { body: 'hello' }, 400, /^audioUrl: The file is none/],
    ['that is empty', { body: '' }, 400, /^audioUrl: /],
    ['that lasts too long', { body: LONG }, 400, 'audioUrl: must last at most 3600 s'],
    [
      'behind a closed port',
      new SendFailed('unreachable', { beforeBytes: true }),
      502,
      /took no connection/,
    ],
    ['that is too long', { body: failing(new BodyTooLarge(5)) }, 413, /26214400 bytes/],
    [
      'that breaks off',
      { body: failing(new SendFailed('broken', { beforeBytes: false })) },
      400,
      /broke off/,
    ],
  ])('an audio file %s is refused with the reason', async (_, page, status, message) => {
    const url = 'https://a.example/x';
    const refused = await web({ [url]: page }).refusal(url);
    expect(refused).toBeInstanceOf(ApiError);
    expect([refused?.status, refused?.fields.message]).toEqual([
      status,
      typeof message === 'string' ? message : expect.stringMatching(message),
    ]);
  });

  it('the sound fetcher sends no request to a host that the agent may not call, redirects included', async () => {
    const pages = {
      'https://a.example/0': to('https://b.example/1'),
      'https://b.example/1': sound(),
    };
    const except = (barred: string) => async (host: string) => {
      if (host === barred) throw controlErrors.hostNotAllowlisted(host);
    };
    for (const [barred, asked] of [
      ['a.example', 0],
      ['b.example', 1],
    ] as const) {
      const { refusal, sent } = web(pages, except(barred));
      const refused = await refusal('https://a.example/0');
      expect(refused).toMatchObject({ status: 403, error: 'host_not_allowlisted' });
      expect(sent).toHaveLength(asked);
    }
  });

  it('a download of an audio file must reach 64 KiB a second after five seconds', async () => {
    const url = 'https://a.example/x.wav';
    for (const [bytesPerSecond, isTaken] of [
      [64 * 1024, true],
      [64 * 1024 - 1, false],
    ] as const) {
      const clock = new ManualClock();
      const seen = { seconds: 0 };
      const body = drip(bytesPerSecond, { clock, seen });
      const got = web({ [url]: { body } }, undefined, clock).get(url);
      if (isTaken) expect((await got).bytes).toHaveLength(8 * bytesPerSecond);
      else await expect(got).rejects.toMatchObject({ status: 400, error: 'Invalid request' });
      expect(seen.seconds).toBe(isTaken ? 8 : 6);
    }
  });

  it('an audio file without free memory is refused, before the download when its length is stated', async () => {
    const url = 'https://a.example/x.wav';
    const twice = 2 * WAV.byteLength;
    const room = (bytes: number) => ({ inAll: bytes, perAccount: bytes });
    const read = { count: 0 };
    const page = (headers: ScriptedAnswer['headers'] = []) => {
      read.count = 0;
      return { [url]: { headers, body: counted(read) } };
    };
    const said = [['Content-Length', String(WAV.byteLength)]] as const;
    const fits = web(page(), undefined, undefined, room(twice));
    expect((await fits.get(url)).durationMs).toBe(200);
    for (const [headers, reads] of [
      [[], 1],
      [said, 0],
    ] as const) {
      const one = web(page([...headers]), undefined, undefined, room(twice - 1));
      const refused = await one.refusal(url);
      expect(refused).toMatchObject({ status: 503, error: 'vendor_unavailable' });
      expect(refused?.headers).toMatchObject({ 'x-should-retry': 'true' });
      expect(read.count).toBe(reads);
    }
  });

  it('the sound fetcher stops waiting for an audio file when its client has left', async () => {
    const url = 'https://a.example/x';
    const one = web({
      [url]: { body: failing(new SendFailed('aborted', { beforeBytes: false })) },
    });
    one.leaving.abort();
    expect(await one.refusal(url)).toMatchObject({ status: 499 });
  });
});

/** Eight seconds of a file that comes so fast. */
async function* drip(
  bytesPerSecond: number,
  { clock, seen }: { readonly clock: ManualClock; readonly seen: { seconds: number } },
): AsyncGenerator<Uint8Array> {
  const samples = Math.ceil((8 * bytesPerSecond) / 2);
  const file = Buffer.from(encodeWav(new Int16Array(samples), 48_000));
  for (let at = 0; at < 8 * bytesPerSecond; at += bytesPerSecond) {
    clock.advance(1_000);
    seen.seconds++;
    yield file.subarray(at, at + bytesPerSecond);
  }
}

async function* counted(read: { count: number }): AsyncGenerator<Uint8Array> {
  read.count++;
  yield WAV;
}

async function* failing(error: Error): AsyncGenerator<Uint8Array> {
  yield Buffer.from('RIFF');
  throw error;
}
