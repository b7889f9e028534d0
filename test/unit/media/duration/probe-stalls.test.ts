import { describe, expect, it } from 'vitest';
import { probeDuration } from '../../../../media/duration/probe-duration.ts';
import { usualStallMs } from '../../../support/longest-stall.ts';

const MIB = 1024 * 1024;
const MOST_STALL_MS = 50;

/** Files of 25 MiB that are all parts and no sound. */
const ATTACKS = {
  'WebM elements of two bytes': Buffer.concat([
    Buffer.from('1a45dfa380', 'hex'),
    Buffer.alloc(25 * MIB, Buffer.from('ec80', 'hex')),
  ]),
  'WebM clusters within each other': Buffer.concat([
    Buffer.from('1a45dfa380', 'hex'),
    Buffer.alloc(25 * MIB, Buffer.from('1f43b67580', 'hex')),
  ]),
  'a chain of ID3 tags': Buffer.alloc(25 * MIB, Buffer.from('49443304000000000000', 'hex')),
  'MP3 that is all sync bytes': Buffer.alloc(25 * MIB, 0xff),
  'Ogg pages of nothing': Buffer.alloc(25 * MIB, Buffer.from(`4f676753${'00'.repeat(23)}`, 'hex')),
  'FLAC metadata without end': Buffer.concat([
    Buffer.from(`664c614300000022${'00'.repeat(10)}0ac442f0${'00'.repeat(20)}`, 'hex'),
    Buffer.alloc(25 * MIB),
  ]),
  'MP4 boxes of nothing': Buffer.concat([
    Buffer.from('000000106674797069736f6d00000000', 'hex'),
    Buffer.alloc(25 * MIB, Buffer.from('0000000866726565', 'hex')),
  ]),
};

describe('the length of a file', () => {
  it.each(Object.entries(ATTACKS))(
    'the search for a file’s duration does not stall the event loop: %s',
    async (_, file) => {
      const probing = async () => {
        expect(await probeDuration(file)).toMatchObject({ kind: 'refused' });
      };
      expect(await usualStallMs(MOST_STALL_MS, probing)).toBeLessThan(MOST_STALL_MS);
    },
  );
});
