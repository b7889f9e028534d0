import { createServer, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineBusy, type SoundEncoding } from '../../../../../src/engines/engine.ts';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import type { SpeechCall, SpeechRail } from '../../../../../src/models/providers/speech-rail.ts';
import { rimeApi } from '../../../../../src/models/providers/vendors/rime.ts';
import { createVendorSpeechRail } from '../../../../../src/models/providers/vendors/vendor-speech.ts';
import { listenOnLoopback } from '../../../../support/listen-on-loopback.ts';

let answer: (response: ServerResponse) => void;
let left = 0;
let encodersOpen = 0;
let isBusy = false;
const pushed: number[] = [];
/** Makes opus, in which a sample is a byte. */
const encoding: SoundEncoding = {
  makes: (format) => format === 'opus',
  async open() {
    if (isBusy) throw new EngineBusy(3);
    encodersOpen++;
    return {
      async push(pcm) {
        pushed.push(...pcm);
        return new Uint8Array(pcm.length);
      },
      finish: async () => Uint8Array.of(9),
      close() {
        encodersOpen--;
      },
    };
  },
};

let rail: SpeechRail & AsyncDisposable;
let peer: Awaited<ReturnType<typeof listenOnLoopback>>;
beforeEach(async () => {
  [left, encodersOpen, isBusy] = [0, 0, false];
  pushed.length = 0;
  peer = await listenOnLoopback(
    createServer((request, response) => {
      request.resume();
      response.on('close', () => {
        if (!response.writableEnded) left++;
      });
      response.setHeader('content-type', 'audio/pcm');
      answer(response);
    }),
  );
  const upstream = { baseUrl: peer.baseUrl, apiKey: 'key' };
  rail = createVendorSpeechRail({ api: rimeApi, upstream, encoding, clock: systemClock });
});
afterEach(async () => {
  await rail[Symbol.asyncDispose]();
  await peer[Symbol.asyncDispose]();
});

const speak = (more: Partial<SpeechCall> = {}, signal = new AbortController().signal) =>
  rail.speak(
    { model: 'mistv2', body: {}, input: 'x', format: 'opus', wantsUsage: false, ...more },
    signal,
  );
const begun = async (more: Partial<SpeechCall> = {}) => {
  const outcome = await speak(more);
  if (outcome.kind !== 'completed') throw new Error(outcome.kind);
  return outcome;
};

describe('sound that is encoded here of what a vendor sends', () => {
  it('vendor speech that is encoded here keeps all samples, wherever the network cuts them', async () => {
    answer = (response) => {
      const pieces = [[1], [0, 2], [0, 3, 0, 4], [0], [255, 255, 7]];
      const write = () => {
        const piece = pieces.shift();
        if (piece === undefined) return response.end();
        response.write(Buffer.from(piece));
        setTimeout(write, 2);
      };
      write();
    };
    const { contentType, sound } = await begun();
    const made: number[] = [];
    for (;;) {
      const bytes = await sound.next();
      if (bytes === undefined) break;
      made.push(...bytes);
    }
    expect([contentType, pushed, made.at(-1)]).toEqual(['audio/ogg', [1, 2, 3, 4, -1], 9]);
    expect(encodersOpen).toBe(0);
  });

  it('vendor speech that is encoded here releases its encoder and stops the vendor when its reader leaves', async () => {
    answer = (response) => response.write(Buffer.alloc(4_800));
    const { sound } = await begun();
    expect(encodersOpen).toBe(1);
    const waiting = sound.next().catch(() => undefined);
    sound.stop();
    await waiting;
    await expect.poll(() => [encodersOpen, left]).toEqual([0, 1]);
  });

  it('vendor speech stops the vendor without a free encoder, and fails when the vendor sends no audio', async () => {
    isBusy = true;
    answer = (response) => response.write(Buffer.alloc(4_800));
    expect(await speak()).toMatchObject({ failure: 'busy', retryAfterSeconds: 3 });
    await expect.poll(() => left).toBe(1);
    answer = (response) => response.end();
    expect(await speak()).toMatchObject({ kind: 'failed', failure: 'broken' });
    expect(await speak({ format: 'wav' })).toMatchObject({ kind: 'failed', failure: 'broken' });
  });

  it('vendor speech is available in the formats that this server can encode', () => {
    const formats = ['mp3', 'pcm', 'wav', 'opus', 'flac', 'aac'] as const;
    expect(formats.filter((format) => rail.makes(format))).toEqual(['mp3', 'pcm', 'wav', 'opus']);
  });
});
