import { describe, expect, it } from 'vitest';
import type { Decoder } from '../../../../src/engines/asr/decoder.ts';
import { createUtterances } from '../../../../src/engines/asr/utterances.ts';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';

const HZ = 16_000;
const loud = (seconds: number, level = 1_000) => new Int16Array(seconds * HZ).fill(level);

/** Hears the level of every block; traps where the plan says so. */
function fakeDecoders(trapsOnFeed: (decoder: number, feed: number) => boolean = () => false) {
  const made: { heard: number[]; begun: number }[] = [];
  async function makeDecoder(): Promise<Decoder> {
    const state = { heard: [] as number[], begun: 0 };
    made.push(state);
    const number = made.length;
    let open = false;
    let feeds = 0;
    return {
      begin() {
        if (open) throw new Error('begun twice');
        open = true;
        state.begun++;
        state.heard = [];
      },
      feed(pcm) {
        if (!open) throw new Error('not begun');
        if (trapsOnFeed(number, ++feeds)) throw new Error('float unrepresentable');
        state.heard.push(pcm[0] as number);
      },
      hypothesis: () => state.heard.join(' '),
      end() {
        if (!open) throw new Error('not begun');
        open = false;
        return state.heard.join(' ');
      },
    };
  }
  return { made, makeDecoder };
}

describe('utterances', () => {
  it('an utterance gives a partial transcript after 200 ms more sound with changed words, and then the final one', async () => {
    const utterances = createUtterances(fakeDecoders());
    expect(await utterances.push(loud(0.1, 1))).toEqual([]);
    expect(await utterances.push(loud(0.1, 2))).toEqual([{ text: '1 2', isFinal: false }]);
    expect(await utterances.push(loud(0.1, 3))).toEqual([]);
    expect(await utterances.finish()).toEqual([{ text: '1 2 3', isFinal: true }]);
    expect(await utterances.finish()).toEqual([]);
  });

  it('the word times of an utterance include the silence that its decoder was spared, and continue after a cut', async () => {
    const utterances = createUtterances({
      async makeDecoder() {
        let heard = 0;
        const last = () => [{ word: 'x', startMs: heard / 16 - 100, endMs: heard / 16 }];
        return {
          begin() {
            heard = 0;
          },
          feed(pcm) {
            heard += pcm.length;
          },
          hypothesis: () => 'x',
          end: () => 'x',
          words: last,
        };
      },
    });
    await utterances.push(loud(0.2));
    for (let i = 0; i < 20; i++) await utterances.push(loud(0.1, 0));
    await utterances.push(loud(0.1));
    const [final] = await utterances.finish();
    expect(final?.words).toEqual([{ word: 'x', startMs: 2_200, endMs: 2_300 }]);
    const long = ENGINE_LIMITS.utterance.hardSeconds;
    const cut = await utterances.push(loud(long));
    expect(cut.at(-1)).toMatchObject({ isFinal: true, words: [{ endMs: 1_000 * long }] });
    await utterances.push(loud(0.1));
    const [rest] = await utterances.finish();
    expect(rest?.words).toMatchObject([{ endMs: 1_000 * long + 100 }]);
  });

  it('an utterance has no word times where the words are not those of its text', async () => {
    const { makeDecoder } = fakeDecoders();
    const utterances = createUtterances({
      makeDecoder: async () => ({ ...(await makeDecoder()), words: () => [] }),
    });
    await utterances.push(loud(0.1, 1));
    expect(await utterances.finish()).toEqual([{ text: '1', isFinal: true }]);
  });

  it('an utterance loses no sound when a decoder traps: the next decoder hears the utterance again', async () => {
    const decoders = fakeDecoders((decoder, feed) => decoder === 1 && feed === 3);
    const utterances = createUtterances(decoders);
    for (const level of [1, 2, 3]) await utterances.push(loud(0.1, level));
    expect(await utterances.finish()).toEqual([{ text: '1 2 3', isFinal: true }]);
    expect(decoders.made.length).toBe(2);
  });

  it('an utterance that traps twice is given up, and the stream goes on', async () => {
    const decoders = fakeDecoders((decoder, feed) => decoder <= 2 && feed === 2);
    const utterances = createUtterances(decoders);
    await utterances.push(loud(0.1, 1));
    expect(await utterances.push(loud(0.1, 2))).toEqual([]);
    await utterances.push(loud(0.1, 5));
    expect(await utterances.finish()).toEqual([{ text: '5', isFinal: true }]);
  });

  it('an overlong utterance is cut at a pause, or without a pause at its maximum length', async () => {
    const { softSeconds: utteranceSoftSeconds, hardSeconds: utteranceHardSeconds } =
      ENGINE_LIMITS.utterance;
    const paused = createUtterances(fakeDecoders());
    for (let s = 0; s < utteranceSoftSeconds; s++) {
      expect((await paused.push(loud(1))).some(({ isFinal }) => isFinal)).toBe(false);
    }
    expect((await paused.push(loud(0.1, 10))).at(-1)?.isFinal).toBe(true);

    const unpaused = createUtterances(fakeDecoders());
    const finals: number[] = [];
    for (let s = 1; s <= utteranceHardSeconds; s++) {
      if ((await unpaused.push(loud(1))).some(({ isFinal }) => isFinal)) finals.push(s);
    }
    expect(finals).toEqual([utteranceHardSeconds]);
  });

  it('a stream of utterances begins with nothing of the stream before, and replaces a decoder past its age', async () => {
    const decoders = fakeDecoders();
    const utterances = createUtterances(decoders);
    await utterances.push(loud(0.1, 9));
    await utterances.begin();
    await utterances.push(loud(0.1, 1));
    expect(await utterances.finish()).toEqual([{ text: '1', isFinal: true }]);
    for (let s = 0; s <= ENGINE_LIMITS.decoder.lifeSeconds; s += 10) {
      await utterances.push(loud(10));
    }
    await utterances.begin();
    expect(decoders.made.length).toBe(2);
  });

  it('a stream of utterances goes on in the state in which it left another decoder', async () => {
    const adapted: (readonly number[] | undefined)[] = [];
    const { makeDecoder } = fakeDecoders((decoder, feed) => decoder === 1 && feed === 2);
    const utterances = createUtterances({
      async makeDecoder() {
        const decoder = await makeDecoder();
        return { ...decoder, adaptation: [7], adapt: (to) => adapted.push(to) };
      },
    });
    await utterances.begin({ adaptation: [3], noiseFloor: 60, saidSamples: 1_600 });
    expect(utterances.isBetween).toBe(true);
    await utterances.push(loud(0.1));
    expect(utterances.isBetween).toBe(false);
    // The decoder traps: its successor knows the speaker, too.
    await utterances.push(loud(0.1));
    expect(adapted).toEqual([[3], [3]]);
    const left = utterances.leave();
    expect(left).toMatchObject({ adaptation: [7], saidSamples: 4_800 });
    expect(left.noiseFloor).toBeCloseTo(60 * 1.02 ** 2);
    await utterances.begin();
    expect(utterances.leave()).toMatchObject({ noiseFloor: 30, saidSamples: 0 });
  });
});
