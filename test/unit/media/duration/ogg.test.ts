import { describe, expect, it } from 'vitest';
import { oggDuration } from '../../../../media/duration/ogg.ts';
import { oggPage, opusFile, vorbisFile } from '../../../support/sound-files.ts';

const ms = (samples: number) => Math.ceil((samples - 312) / 48);

describe('the duration of Ogg with Opus', () => {
  it('the duration of Ogg with Opus is that of its packets, less the samples skipped at its beginning', async () => {
    expect(await oggDuration(opusFile(100))).toEqual({ kind: 'measured', durationMs: ms(96_000) });
  });

  it('the duration of Ogg with Opus ends where the last page says, if that is within the last packet', async () => {
    expect(await oggDuration(opusFile(100, 95_500n))).toMatchObject({ durationMs: ms(95_500) });
    for (const lie of [0n, 1n, 48_000n, 10_000_000n]) {
      expect(await oggDuration(opusFile(100, lie))).toMatchObject({ durationMs: ms(96_000) });
    }
  });

  it('the duration of Ogg with Opus counts a packet that spans pages once', async () => {
    const long = oggPage({ packets: [Buffer.alloc(254)], granule: 0n });
    // The lacing says that it goes on.
    long[27] = 255;
    const file = Buffer.concat([
      opusFile(100).subarray(0),
      Buffer.concat([long.subarray(0, 28), Buffer.alloc(255, 0x08)]),
      oggPage({ packets: [Buffer.alloc(10, 0x08)], granule: 96_960n, flags: 1 }),
    ]);
    expect(await oggDuration(file)).toMatchObject({ durationMs: ms(96_960) });
  });

  it('the duration of Ogg with Opus adds chained streams', async () => {
    const second = opusFile(50);
    for (let at = second.indexOf('OggS'); at !== -1; at = second.indexOf('OggS', at + 1))
      second[at + 14] = 2;
    const both = await oggDuration(Buffer.concat([opusFile(100), second]));
    expect(both).toMatchObject({ durationMs: Math.ceil((96_000 + 48_000 - 2 * 312) / 48) });
  });
});

describe('the duration of Ogg with Vorbis', () => {
  it('the duration of Ogg with Vorbis is the position of its last page', async () => {
    expect(await oggDuration(vorbisFile(66_150n))).toEqual({ kind: 'measured', durationMs: 1_500 });
    expect(await oggDuration(vorbisFile(0xffff_ffff_ffff_ffffn))).toMatchObject({
      kind: 'refused',
    });
  });
});

it('the duration of Ogg of any other kind is refused', async () => {
  const speex = oggPage({ packets: [Buffer.from('Speex   1.2.0')], granule: 0n, flags: 2 });
  expect(await oggDuration(speex)).toMatchObject({ reason: expect.stringContaining('neither') });
});
