import { describe, expect, it } from 'vitest';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import { PaidAudio, type PaidAudioOptions } from '../../../../src/voice/billing/paid-audio.ts';
import type { SessionHold } from '../../../../src/voice/billing/session-hold.ts';
import { policyOf } from '../../../support/spending.ts';
import { settleAll } from '../../../support/voice-world.ts';

const BYTES_PER_SECOND = 10;
const SLICE = 100;

const source = {
  provider: 'local',
  upstreamModel: 'pocketsphinx',
  rates: { audio_second: 1_000_000n },
  marginBps: 0,
} as unknown as Source;

const sessionHold: SessionHold = {
  heldRaw: 10n,
  spentRaw: 0n,
  extend: async () => ({ kind: 'extended' }),
  shrink: async () => 'given',
  use: async (work) => (await work(undefined, 0n)).result,
  journal: async () => 'written',
  disown() {},
  settle: async () => {},
};

/** Callbacks that do nothing, except those that a test gives. */
const paidAudio = (change: Partial<PaidAudioOptions>): PaidAudio =>
  new PaidAudio({
    sessionHold,
    source,
    bytesPerSecond: BYTES_PER_SECOND,
    hear: () => {},
    low: () => {},
    spent: () => {},
    unheld: () => {},
    lost: () => {},
    away: () => {},
    awayLate: () => {},
    ...change,
  });

describe('PaidAudio', () => {
  it('PaidAudio ends its stream, and not the process, when the transcriber throws at paid audio', async () => {
    const away: unknown[] = [];
    let heardBytes = 0;
    const audio = paidAudio({
      hear(bytes) {
        if (heardBytes > 0) throw new Error('the transcriber broke');
        heardBytes += bytes.length;
      },
      away: (error) => away.push(error),
    });
    audio.push(new Uint8Array(SLICE + 1));
    await settleAll();
    expect(away).toMatchObject([{ message: 'the transcriber broke' }]);
  });

  it('PaidAudio calls back after the audio pushed before and before the audio pushed later, however long that waits', async () => {
    const heard: (number | string)[] = [];
    const audio = paidAudio({ hear: (bytes) => heard.push(bytes.length) });
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

  it('PaidAudio holds no more money, and lets no more audio through, once the transcriber has stopped it', async () => {
    let extended = 0;
    let heardBytes = 0;
    const audio: PaidAudio = paidAudio({
      sessionHold: {
        ...sessionHold,
        async extend() {
          extended += 1;
          return { kind: 'extended' };
        },
      },
      hear(bytes) {
        heardBytes += bytes.length;
        audio.stop();
      },
    });
    audio.push(new Uint8Array(SLICE + 1));
    await settleAll();
    expect([heardBytes, extended]).toEqual([SLICE, 0]);
  });

  it('PaidAudio ends its stream when the callback for a settlement by another process throws', async () => {
    const away: unknown[] = [];
    const audio = paidAudio({
      sessionHold: { ...sessionHold, journal: async () => 'lost' },
      lost: () => {
        throw new Error('the actor broke');
      },
      away: (error) => away.push(error),
    });
    audio.push(new Uint8Array(1));
    audio.heardUpTo(1);
    audio.journal();
    await settleAll();
    expect(away).toMatchObject([{ message: 'the actor broke' }]);
  });

  it('PaidAudio reports how much audio it has dropped when it is stopped', () => {
    const audio = paidAudio({
      sessionHold: { ...sessionHold, extend: () => new Promise<never>(() => {}) },
    });
    audio.push(new Uint8Array(SLICE));
    audio.push(new Uint8Array(25));
    expect(audio.droppedSeconds).toBe(0);
    audio.stop();
    audio.push(new Uint8Array(25));
    audio.stop();
    expect(audio.droppedSeconds).toBe(2.5);
  });

  it('PaidAudio counts the rest of a piece of audio as dropped when the transcriber stops the stream in that piece', () => {
    const audio: PaidAudio = paidAudio({ hear: () => audio.stop() });
    audio.push(new Uint8Array(SLICE + 50));
    expect(audio.droppedSeconds).toBe(5);
  });

  it('PaidAudio counts the rest of the waiting audio as dropped when the transcriber stops the stream in the middle', async () => {
    let heardBytes = 0;
    const audio: PaidAudio = paidAudio({
      hear(bytes) {
        heardBytes += bytes.length;
        if (heardBytes > SLICE) audio.stop();
      },
    });
    for (const bytes of [SLICE, 150, 70]) audio.push(new Uint8Array(bytes));
    await settleAll();
    expect([heardBytes, audio.droppedSeconds]).toEqual([2 * SLICE, 12]);
  });

  it('PaidAudio reports that a further slice could not be held, and after a stop only that the ledger answered late', async () => {
    const calls: string[] = [];
    for (const isStopped of [false, true]) {
      const audio = paidAudio({
        sessionHold: { ...sessionHold, extend: () => Promise.reject(new Error('away')) },
        unheld: () => calls.push('unheld'),
        away: () => calls.push('away'),
        awayLate: () => calls.push('late'),
      });
      audio.push(new Uint8Array(SLICE + 1));
      if (isStopped) audio.stop();
      await settleAll();
    }
    expect(calls).toEqual(['unheld', 'late']);
  });

  it('PaidAudio holds fewer seconds when a whole slice does not fit, and suspends its agent only over the last second', async () => {
    const asked: string[] = [];
    let leftRaw = 13n;
    const policy = policyOf();
    const breach = { policy, requiredRaw: 0n, spentRaw: 0n, capRaw: 0n };
    const capped: SessionHold = {
      ...sessionHold,
      async extend(wanted, isQuiet = false) {
        const raw = typeof wanted === 'bigint' ? wanted : wanted();
        asked.push(`${raw}${isQuiet ? '' : '!'}`);
        if (raw <= leftRaw) {
          leftRaw -= raw;
          return { kind: 'extended' };
        }
        const refusal = { reason: 'cap_exceeded', breach, availableRaw: leftRaw } as const;
        return { kind: 'refused', refusal: { ...refusal, suspended: !isQuiet } };
      },
    };
    let heardBytes = 0;
    const spent: unknown[] = [];
    const audio: PaidAudio = paidAudio({
      sessionHold: capped,
      hear: (bytes) => {
        heardBytes += bytes.length;
      },
      low: () => audio.extend(),
      spent: (refusal) => spent.push(refusal),
    });
    audio.push(new Uint8Array(SLICE / 2 + 1));
    await settleAll();
    // A slice is held ahead of need, and of the next what there is.
    expect(asked).toEqual(['10']);
    audio.push(new Uint8Array(3 * SLICE));
    await settleAll();
    expect(heardBytes).toBe(230);
    expect(spent).toMatchObject([{ reason: 'cap_exceeded', suspended: true }]);
    expect(asked.filter((ask) => ask.endsWith('!'))).toEqual(['1!']);
  });

  it('PaidAudio does not charge seconds that an upstream reports beyond the audio that was sent', () => {
    const disowned: [bigint, boolean][] = [];
    const watched: SessionHold = {
      ...sessionHold,
      disown: (raw, isFar) => disowned.push([raw, isFar]),
    };
    const audio = paidAudio({ sessionHold: watched });
    audio.push(new Uint8Array(SLICE));
    audio.heardUpTo(10);
    audio.heardUpTo(11);
    expect(disowned).toEqual([]);
    audio.heardUpTo(30);
    audio.heardUpTo(30);
    audio.heardUpTo(1_000);
    expect(disowned).toEqual([
      [20n, false],
      [970n, true],
    ]);
    expect(audio.seconds).toBe(10);
    // A time that no price can be computed of does not end the session.
    audio.heardUpTo(1e308);
    expect(disowned.at(-1)).toEqual([171_800n, true]);
    expect(audio.seconds).toBe(10);
  });
});
