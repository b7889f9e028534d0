import { describe, expect, it } from 'vitest';
import { EngineInputRefused, EngineMissing } from '../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';
import { createFlite } from '../../../../src/engines/tts/flite.ts';
import type { FliteContract } from '../../../../src/engines/tts/flite-worker.ts';
import { fakeWorkerClient } from '../../../support/fake-worker-client.ts';

const RATE = 16_000;

type Spoken = FliteContract['speak']['in'];

function world(pcm: Int16Array = new Int16Array(4)) {
  const client = fakeWorkerClient<FliteContract>(() => ({ pcm, sampleRateHz: RATE }));
  const asked = () => client.calls.map(({ argument }) => argument as Spoken);
  return { asked, flite: createFlite({ client, requirePresent: () => {} }) };
}

const signal = new AbortController().signal;

describe('flite', () => {
  it('flite speaks every sentence in order, each chunk with its words', async () => {
    const { flite } = world();
    const words: string[] = [];
    for await (const chunk of flite.speak({ text: 'One. Two! Three?', voice: 'slt', signal })) {
      words.push(chunk.text);
    }
    expect(words).toEqual(['One.', 'Two!', 'Three?']);
  });

  it('flite maps every unknown voice to its own first voice', async () => {
    const { flite, asked } = world();
    for (const voice of ['alloy', 'awb', '']) {
      for await (const _ of flite.speak({ text: 'Hi', voice, signal }));
    }
    expect(asked().map(({ voice }) => voice)).toEqual(['rms', 'awb', 'rms']);
  });

  it('flite synthesizes at most one sentence ahead of its listener, and none after an abort', async () => {
    const { flite, asked } = world();
    const stop = new AbortController();
    const spoken: string[] = [];
    const text = 'One. Two. Three. Four.';
    for await (const chunk of flite.speak({ text, voice: 'rms', signal: stop.signal })) {
      spoken.push(chunk.text);
      expect(asked().length).toBeLessThanOrEqual(spoken.length + 1);
      if (spoken.length === 2) stop.abort();
    }
    expect(spoken).toEqual(['One.', 'Two.']);
    expect(asked().length).toBe(3);
  });

  it('flite lets another agent speak between the pieces of a long number', async () => {
    const { flite, asked } = world();
    const speak = async (text: string, agentId: number) => {
      for await (const _ of flite.speak({ text, voice: 'rms', signal, agentId }));
    };
    const long = speak('1234567890'.repeat(409), 1);
    await speak('Hello.', 2);
    expect(asked().findIndex(({ text }) => text === 'Hello.')).toBeLessThanOrEqual(3);
    await long;
    expect(asked().length).toBeGreaterThan(60);
    expect(Math.max(...asked().map(({ text }) => text.length))).toBeLessThanOrEqual(67);
  });

  it('flite stretches time by the speed, within limits', async () => {
    const { flite, asked } = world();
    for (const speed of [2, 0.001]) {
      for await (const _ of flite.speak({ text: 'Hi', voice: 'rms', speed, signal }));
    }
    expect(asked().map(({ stretch }) => stretch)).toEqual([0.5, 4]);
  });

  it('flite synthesizes nothing for a text without speakable characters, and refuses a text beyond its limit', async () => {
    const { flite, asked } = world();
    for await (const _ of flite.speak({ text: '… 😀 日本語 —', voice: 'rms', signal }));
    expect(asked()).toEqual([]);
    const text = 'a'.repeat(ENGINE_LIMITS.speech.textChars + 1);
    await expect(
      flite.speak({ text, voice: 'rms', signal })[Symbol.asyncIterator]().next(),
    ).rejects.toThrow(EngineInputRefused);
  });

  it('flite names its missing package', async () => {
    const { asked } = world();
    const flite = createFlite({
      client: fakeWorkerClient<FliteContract>(() => null),
      requirePresent() {
        throw new EngineMissing('pruned');
      },
    });
    await expect(
      flite.speak({ text: 'Hi', voice: 'rms', signal })[Symbol.asyncIterator]().next(),
    ).rejects.toThrow(new EngineMissing('pruned'));
    expect(asked()).toEqual([]);
  });

  it('flite gets its text in ASCII characters alone', async () => {
    const { flite, asked } = world();
    for await (const _ of flite.speak({ text: 'Déjà vu — “it’s”…', voice: 'rms', signal }));
    expect(asked().map(({ text }) => text)).toEqual(['Deja vu , "it\'s"...']);
  });
});

describe('the silence before speech', () => {
  /** So many milliseconds of noise, and then sound. */
  const speech = (noiseMs: number) =>
    Int16Array.from({ length: RATE / 2 }, (_, i) => (i < (noiseMs * RATE) / 1_000 ? 90 : 3_000));

  const heardOf = async (pcm: Int16Array) => {
    const { flite } = world(pcm);
    for await (const sound of flite.speak({ text: 'Hi', voice: 'rms', signal })) return sound.pcm;
    return undefined;
  };

  it('the silence before speech is cut to 40 ms', async () => {
    const heard = await heardOf(speech(180));
    expect(heard?.findIndex((sample) => sample > 1_000)).toBe((40 * RATE) / 1_000);
    expect(heard?.length).toBe(RATE / 2 - (140 * RATE) / 1_000);
  });

  it('the silence before speech stays where it is shorter, and where there is no speech', async () => {
    const short = speech(30);
    const still = new Int16Array(400);
    expect(await heardOf(short)).toBe(short);
    expect(await heardOf(still)).toBe(still);
  });
});
