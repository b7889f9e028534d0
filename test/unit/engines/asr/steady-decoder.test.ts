import { describe, expect, it } from 'vitest';
import { createSteadyDecoder } from '../../../../src/engines/asr/steady-decoder.ts';

const sound = (level: number) => new Int16Array(1_600).fill(level);

function world(trapping: (decoder: number, level: number) => boolean) {
  let made = 0;
  const steady = createSteadyDecoder(async () => {
    const number = ++made;
    let heard: number[] = [];
    return {
      begin() {
        heard = [];
      },
      feed(pcm) {
        if (trapping(number, pcm[0] as number)) throw 'abort()';
        heard.push(pcm[0] as number);
      },
      hypothesis: () => heard.join(' '),
      end: () => heard.join(' '),
    };
  });
  return { steady, made: () => made };
}

describe('steady decoder', () => {
  it('the steady decoder replays the utterance to the successor of a decoder that trapped', async () => {
    const { steady, made } = world((decoder, level) => decoder === 1 && level === 3);
    for (const level of [1, 2, 3]) await steady.hear(sound(level));
    expect(await steady.ask((decoder) => decoder.end(), '')).toBe('1 2 3');
    expect(made()).toBe(2);
  });

  it('the steady decoder drops sound on which every decoder traps, and keeps all that follows', async () => {
    const { steady } = world((_, level) => level === 3);
    for (const level of [1, 3, 4]) await steady.hear(sound(level));
    expect(steady.heardSamples).toBe(1_600);
    expect(await steady.ask((decoder) => decoder.end(), '')).toBe('4');
  });

  it('the steady decoder replaces a decoder only beyond its maximum age', async () => {
    const { steady, made } = world(() => false);
    await steady.hear(sound(1));
    steady.forget();
    steady.renewAfter(1);
    await steady.ready();
    expect(made()).toBe(1);
    steady.renewAfter(0.05);
    await steady.ready();
    expect(made()).toBe(2);
  });
});
