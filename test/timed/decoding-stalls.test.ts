import { afterAll, describe, expect, it } from 'vitest';
import { probeDuration } from '../../media/duration/probe-duration.ts';
import { createLocalEngines } from '../../src/engines/local-engines.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { usualStallMs } from '../support/longest-stall.ts';
import {
  adtsFrame,
  flacFile,
  mp3Frame,
  oggPage,
  opusFile,
  vorbisFile,
} from '../support/sound-files.ts';
import { soundVector } from '../support/sound-vector.ts';

const MIB = 1024 * 1024;
const MOST_STALL_MS = 50;
const { decoding, ...engines } = createLocalEngines({
  clock: systemClock,
  random: systemRandom,
  log: silentLog,
});
afterAll(() => engines[Symbol.asyncDispose]());

const filled = (frame: Buffer) => Buffer.alloc(25 * MIB, frame);
const opusPackets = oggPage({
  packets: Array<Buffer>(255).fill(Buffer.from([0x1b, 6])),
  granule: 1n,
});

/** Files of 25 MiB at most, with what each is refused for; undefined: it is heard up to its end. */
const ATTACKS: Readonly<Record<string, readonly [Buffer, RegExp | undefined]>> = {
  'MP3 that lasts 27 minutes': [filled(mp3Frame()), /at most/],
  'AAC whose frames are empty': [filled(adtsFrame()), /more parts than sound/],
  'FLAC of hours': [flacFile(100_000), /at most/],
  'Opus of weeks in packets of two bytes': [
    Buffer.concat([opusFile(0), filled(opusPackets)]),
    /claims a duration/,
  ],
  'Vorbis without code books': [
    Buffer.concat([vorbisFile(44_100n), filled(opusPackets)]),
    /Vorbis/,
  ],
  'speech with 25 MiB of noise behind it': [
    Buffer.concat([soundVector('speech.mp3'), filled(Buffer.from('noise'))]),
    /too much that is no sound/,
  ],
  'speech in 25 MiB of WebM': [
    Buffer.concat([soundVector('recorder.webm'), filled(Buffer.from('ec4f01', 'hex'))]),
    undefined,
  ],
};

async function hear(file: Buffer): Promise<string | undefined> {
  const probed = await probeDuration(file);
  if (probed.kind === 'refused') return probed.reason;
  if (probed.durationMs > 600_000) return 'at most 600 s';
  try {
    const decoded = await decoding.open(file, probed.durationMs);
    while ((await decoded.next()) !== undefined);
    decoded.close();
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ name: 'EngineInputRefused', param: 'file' });
    return (error as Error).message;
  }
}

describe('a file that is made to be hard to decode', () => {
  it.each(Object.entries(ATTACKS))(
    'a file that is made hard to decode does not stall the event loop: %s',
    async (_, [file, reason]) => {
      const hearing = async () => {
        const told = await hear(file);
        if (reason === undefined) expect(told).toBeUndefined();
        else expect(told).toMatch(reason);
      };
      expect(await usualStallMs(MOST_STALL_MS, hearing)).toBeLessThan(MOST_STALL_MS);
    },
  );
});
