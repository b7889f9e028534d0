import { afterAll, describe, expect, it } from 'vitest';
import { EngineInputRefused } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import {
  LIBRIVOX,
  listening,
  loadRecording,
  overTelephone,
  pushFrames,
  RECORDINGS,
  wordCount,
  wordErrors,
} from '../../support/speech.ts';

/** Chance that is always the same, so that the dither is. */
const random = { bytes: (length: number) => new Uint8Array(length).fill(7) };
const engines = createLocalEngines({ clock: systemClock, random, log: silentLog });
afterAll(() => engines[Symbol.asyncDispose]());

/** Minutes of sound are decoded, which takes as long as the machine is busy with other things. */
const PATIENCE_MS = 240_000;

const facts = { agentName: 'a', spendableRaw: 4_992_650n, heldRaw: 0n, spentRaw: 0n };

async function recognise(pcm: Int16Array, sampleRateHz: number): Promise<string> {
  const transcriber = listening();
  const { pocketsphinx } = engines.stt;
  const stream = await pocketsphinx.open({ sampleRateHz, listener: transcriber.listener });
  try {
    pushFrames(stream, pcm, sampleRateHz);
    await stream.endUtterance();
    expect(transcriber.failures).toEqual([]);
    return transcriber.finals().join(' ');
  } finally {
    stream.close();
  }
}

async function errorRate(
  hear: (pcm: Int16Array) => Promise<string>,
  recordings: typeof LIBRIVOX,
): Promise<number> {
  let errors = 0;
  let words = 0;
  for (const { file, text } of recordings) {
    errors += wordErrors(text, await hear(loadRecording(file)));
    words += wordCount(text);
  }
  return errors / words;
}

describe('local/pocketsphinx', () => {
  // Calls come over a telephone; broad sound takes the decoder twice as long.
  it.each<[name: string, of: typeof LIBRIVOX, hear: (pcm: Int16Array) => Promise<string>]>([
    ['at 16 kHz', LIBRIVOX.slice(0, 2), (pcm) => recognise(pcm, 16_000)],
    ['over a telephone', LIBRIVOX, (pcm) => recognise(overTelephone(pcm), 8_000)],
  ])(
    'understands read English with at most 35 % of the words wrong %s',
    async (_, recordings, hear) => {
      expect(await errorRate(hear, recordings)).toBeLessThanOrEqual(0.35);
    },
    PATIENCE_MS,
  );

  it('local/pocketsphinx keeps the words of audio that is cut in the middle of a word', async () => {
    const [first] = LIBRIVOX.map(({ file }) => loadRecording(file));
    for (let tenths = 29; tenths <= 31; tenths++) {
      expect(
        await recognise(first?.slice(0, tenths * 1_600) ?? new Int16Array(0), 16_000),
      ).toContain('mr');
    }
  });

  it.each([
    ['digital silence', () => 0],
    ['the faint noise of a line', (i: number) => ((i * 7_919) % 61) - 30],
  ])('local/pocketsphinx transcribes speech as well after 10 s of %s', async (_, sampleAt) => {
    const transcriber = listening();
    const { pocketsphinx } = engines.stt;
    const stream = await pocketsphinx.open({
      sampleRateHz: 16_000,
      listener: transcriber.listener,
    });
    const quiet = Int16Array.from({ length: 160_000 }, (_, i) => sampleAt(i));
    pushFrames(stream, quiet, 16_000);
    await stream.endUtterance();
    pushFrames(stream, quiet, 16_000);
    pushFrames(stream, loadRecording('librivox-0930.wav'), 16_000);
    await stream.endUtterance();
    stream.close();
    expect(transcriber.failures).toEqual([]);
    const said = 'he might even have been made amiable himself';
    expect(wordErrors(said, transcriber.finals().at(-1) ?? '')).toBeLessThanOrEqual(3);
  });

  it('local/pocketsphinx gives the time of each word, also after a long pause', async () => {
    const transcriber = listening();
    const { pocketsphinx } = engines.stt;
    const stream = await pocketsphinx.open({
      sampleRateHz: 16_000,
      listener: transcriber.listener,
    });
    const first = loadRecording('librivox-0930.wav');
    const pause = new Int16Array(3 * 16_000);
    for (const sound of [first, pause, first]) pushFrames(stream, sound, 16_000);
    await stream.endUtterance();
    stream.close();
    const finals = transcriber.transcripts.filter(({ isFinal }) => isFinal);
    const words = finals.flatMap((transcript) => transcript.words ?? []);
    expect(words.map(({ word }) => word).join(' ')).toBe(transcriber.finals().join(' '));
    for (const [i, { startMs, endMs }] of words.entries()) {
      expect(startMs).toBeGreaterThanOrEqual(words[i - 1]?.endMs ?? 0);
      expect(endMs).toBeGreaterThan(startMs);
    }
    // The same sentence twice: each word of it is later by the recording and the pause.
    const againMs = first.length / 16 + 3_000;
    const [once, again] = ['amiable', 'himself'].map((said) =>
      words.filter(({ word }) => word === said),
    ) as [typeof words, typeof words];
    const [sooner, later] = once.length === 2 ? once : again;
    expect(Math.abs((later?.startMs ?? 0) - (sooner?.startMs ?? 0) - againMs)).toBeLessThan(120);
    expect(
      words.some(({ startMs }) => startMs > first.length / 16 && startMs < againMs - 200),
    ).toBe(false);
  });

  it('local/pocketsphinx gives partial transcripts while the speaker speaks', async () => {
    const transcriber = listening();
    const { pocketsphinx } = engines.stt;
    const stream = await pocketsphinx.open({
      sampleRateHz: 16_000,
      listener: transcriber.listener,
    });
    pushFrames(stream, loadRecording('librivox-0880.wav'), 16_000);
    await stream.endUtterance();
    stream.close();
    expect(transcriber.transcripts.filter(({ isFinal }) => !isFinal).length).toBeGreaterThanOrEqual(
      4,
    );
    expect(transcriber.transcripts.at(-1)?.isFinal).toBe(true);
  });
});

const GRAMMARS: Readonly<Record<string, string>> = {
  goforward: `#JSGF V1.0; grammar go;
    public <go> = go (forward | backward) <n> (meter | meters);
    <n> = one | two | three | four | five | six | seven | eight | nine | ten;`,
  cards: `#JSGF V1.0; grammar cards;
    public <cards> = <card> [<card>] [<card>] | <rank> <card> | <rank> <rank>;
    <card> = <rank> of <suit>;
    <suit> = clubs | hearts | diamonds | spades;
    <rank> = ace | two | three | four | five | six | seven | eight | nine | ten | jack | queen | king;`,
};

describe('local/grammar', () => {
  it('local/grammar recognizes the commands of a grammar with hardly an error, also from telephone audio', async () => {
    let errors = 0;
    let words = 0;
    for (const { file, text, grammar = '' } of RECORDINGS.filter((one) => one.grammar)) {
      const transcriber = listening();
      const stream = await engines.stt.grammar.open({
        sampleRateHz: 8_000,
        listener: transcriber.listener,
        grammar: GRAMMARS[grammar] ?? '',
      });
      pushFrames(stream, overTelephone(loadRecording(file)), 8_000);
      await stream.endUtterance();
      stream.close();
      errors += wordErrors(text, transcriber.finals().join(' '));
      words += wordCount(text);
      const timed = transcriber.transcripts.findLast(({ isFinal }) => isFinal)?.words ?? [];
      expect(timed.map(({ word }) => word).join(' ')).toBe(transcriber.finals().at(-1));
      expect(timed.at(-1)?.endMs).toBeGreaterThan(timed[0]?.endMs ?? 0);
    }
    expect(errors / words).toBeLessThanOrEqual(0.1);
  });

  it.each([
    ['junk', 'syntax error'],
    ['#JSGF V1.0; grammar x; public <x> = <nope>;', 'Undefined rule'],
    ['#JSGF V1.0; grammar x; public <x> = zzyzxqq;', "'zzyzxqq' is missing"],
    ['#JSGF V1.0; grammar x; <x> = hello;', 'No public rules'],
    ['', 'needs a JSGF grammar'],
    [`#JSGF V1.0; grammar x; public <x> = ${'hello '.repeat(3_000)};`, 'at most'],
    [
      `#JSGF V1.0; grammar x; public <a> = ${'<b> '.repeat(100)}; <b> = ${'<c> '.repeat(100)}; <c> = hello;`,
      'written out',
    ],
    [`#JSGF V1.0; grammar x; public <x> = ${'('.repeat(3_000)}one${')*'.repeat(3_000)};`, 'levels'],
    [`#JSGF V1.0; grammar x; public <x> = ${'('.repeat(16)}one${')+'.repeat(16)};`, 'at most'],
  ])(
    'local/grammar refuses a bad grammar with the reason, and stays usable (%#)',
    async (grammar, why) => {
      const { listener } = listening();
      const opened = engines.stt.grammar.open({ sampleRateHz: 16_000, listener, grammar });
      await expect(opened).rejects.toThrow(EngineInputRefused);
      await expect(opened).rejects.toThrow(why);
    },
  );
});

describe('local/flite and local/guide', () => {
  it.each([
    'What is my balance?',
    'How much money do I have left?',
    'Can you tell me my balance please?',
  ])(
    'a "%s" spoken by local/flite is transcribed, and local/guide answers it with the true balance',
    async (question) => {
      const spoken: Int16Array[] = [];
      const { signal } = new AbortController();
      for await (const chunk of engines.tts.flite.speak({
        text: question,
        voice: 'alloy',
        signal,
      })) {
        expect(chunk.sampleRateHz).toBe(16_000);
        spoken.push(chunk.pcm);
      }
      const pcm = Int16Array.from(spoken.flatMap((part) => [...part]));
      const heard = await recognise(pcm, 16_000);
      const { text } = await engines.guide.reply({
        messages: [{ role: 'user', content: heard }],
        facts,
        maxTokens: 100,
        nowMs: 0,
      });
      expect(text).toContain('4 dollars and 99 cents, exactly 4.992650 USDC');
    },
  );

  it('local/flite speaks in each of its voices, faster when requested, and handles any text', async () => {
    const seconds = async (text: string, voice: string, speed?: number) => {
      const { signal } = new AbortController();
      let sum = 0;
      const request = { text, voice, signal, ...(speed === undefined ? {} : { speed }) };
      for await (const { pcm, sampleRateHz } of engines.tts.flite.speak(request)) {
        sum += pcm.length / sampleRateHz;
      }
      return sum;
    };
    for (const voice of ['rms', 'slt', 'awb', 'kal']) {
      expect(await seconds('Hello there.', voice)).toBeGreaterThan(0.4);
    }
    const plain = await seconds('This takes a while to say.', 'rms');
    expect(await seconds('This takes a while to say.', 'rms', 2)).toBeLessThan(plain * 0.65);
    for (const text of ['', '...', '日本語', '-o /etc/passwd', 'a\0b', '%s%n', '😀']) {
      await seconds(text, 'rms');
    }
  });

  it('local/guide answers a paraphrased question by its meaning', async () => {
    const ask = async (content: string) =>
      (
        await engines.guide.reply({
          messages: [{ role: 'user', content }],
          facts,
          maxTokens: 100,
          nowMs: 0,
        })
      ).text;
    expect(await ask('how can I put more money in')).toContain('Send USDC on Base');
    expect(await ask('my key was stolen')).toContain('Revoke or rotate');
    expect(await ask('how many dollars do i still own')).toContain('4.992650');
    expect(await ask('who won the world cup')).toContain('I heard');
  });
});

describe('local/use-lite', () => {
  it('local/use-lite gives unit vectors that are closer for closer meanings, and takes empty and long texts', async () => {
    const texts = [
      'How old are you?',
      'What is your age?',
      'The river is cold.',
      '',
      'x'.repeat(8_000),
    ];
    const vectors = await engines.embedding.useLite.embed(texts);
    const dot = (a: Float32Array = new Float32Array(), b: Float32Array = new Float32Array()) =>
      a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
    for (const vector of vectors) {
      expect(vector.length).toBe(512);
      expect(dot(vector, vector)).toBeCloseTo(1, 4);
    }
    expect(dot(vectors[0], vectors[1])).toBeGreaterThan(dot(vectors[0], vectors[2]) + 0.2);
  });
});
