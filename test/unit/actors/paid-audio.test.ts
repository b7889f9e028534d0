import { describe, expect, it } from 'vitest';
import { PaidAudio } from '../../../src/actors/paid-audio.ts';
import type { Purse } from '../../../src/actors/voice-purse.ts';
import type { Source } from '../../../src/gateway/catalogue.ts';
import { settleAll } from '../../support/voice-world.ts';

const BYTES_PER_SECOND = 10;
const SLICE = 100;

const source = {
  provider: 'local',
  upstreamModel: 'pocketsphinx',
  rates: { audio_second: 1_000_000n },
  marginBps: 0,
} as unknown as Source;

const purse: Purse = {
  heldRaw: 0n,
  spentRaw: 0n,
  extend: async () => ({ kind: 'extended' }),
  journal: async () => 'written',
  settle: async () => {},
};

describe('PaidAudio', () => {
  it('ends its stream, and not the process, when hearing what was just paid for throws', async () => {
    const away: unknown[] = [];
    let heardBytes = 0;
    const audio = new PaidAudio({
      ...{ purse, source },
      ...{ bytesPerSecond: BYTES_PER_SECOND, isTold: false },
      hear(bytes) {
        if (heardBytes > 0) throw new Error('the ear broke');
        heardBytes += bytes.length;
      },
      low: () => {},
      spent: () => {},
      lost: () => {},
      away: (error) => away.push(error),
      awayLate: () => {},
    });
    audio.push(new Uint8Array(SLICE + 1));
    await settleAll();
    expect(away).toMatchObject([{ message: 'the ear broke' }]);
  });

  it('calls back between what was pushed before and what after, however long it waits', async () => {
    const heard: (number | string)[] = [];
    const audio = new PaidAudio({
      ...{ purse, source },
      ...{ bytesPerSecond: BYTES_PER_SECOND, isTold: false },
      hear: (bytes) => heard.push(bytes.length),
      low: () => {},
      spent: () => {},
      lost: () => {},
      away: () => {},
      awayLate: () => {},
    });
    const say = (word: string) => audio.whenHeard(() => heard.push(word));
    audio.push(new Uint8Array(SLICE - 1));
    say('at once');
    audio.push(new Uint8Array(51));
    say('one');
    say('two');
    audio.push(new Uint8Array(70));
    say('three');
    expect(heard).toEqual([99, 'at once', 1]);
    await settleAll();
    expect(heard.slice(3)).toEqual([50, 'one', 'two', 50, 20, 'three']);
  });

  it('holds no more, and lets no more through, once hearing it has stopped it', async () => {
    let extended = 0;
    let heardBytes = 0;
    const audio: PaidAudio = new PaidAudio({
      source,
      purse: {
        ...purse,
        async extend() {
          extended += 1;
          return { kind: 'extended' };
        },
      },
      ...{ bytesPerSecond: BYTES_PER_SECOND, isTold: false },
      hear(bytes) {
        heardBytes += bytes.length;
        audio.stop();
      },
      low: () => {},
      spent: () => {},
      lost: () => {},
      away: () => {},
      awayLate: () => {},
    });
    audio.push(new Uint8Array(SLICE + 1));
    await settleAll();
    expect([heardBytes, extended]).toEqual([SLICE, 0]);
  });

  it('ends its stream when telling it that another process settled it throws', async () => {
    const away: unknown[] = [];
    const audio = new PaidAudio({
      ...{ source, purse: { ...purse, journal: async () => 'lost' } },
      ...{ bytesPerSecond: BYTES_PER_SECOND, isTold: false },
      hear: () => {},
      low: () => {},
      spent: () => {},
      lost: () => {
        throw new Error('the actor broke');
      },
      away: (error) => away.push(error),
      awayLate: () => {},
    });
    audio.push(new Uint8Array(1));
    audio.journal();
    await settleAll();
    expect(away).toMatchObject([{ message: 'the actor broke' }]);
  });
});
