import { describe, expect, it } from 'vitest';
import type { Heard } from '../../../src/actors/ear-events.ts';
import type { EarOptions } from '../../../src/actors/ear-options.ts';
import { VoiceEar } from '../../../src/actors/voice-ear.ts';
import { type SttListener, type SttStream, UtteranceLost } from '../../../src/engines/engine.ts';
import { ManualClock } from '../../../src/kernel/manual-clock.ts';
import { bytesOf, createFakeEngines, silence, tone } from '../../support/voice-fakes.ts';
import { settleAll } from '../../support/voice-world.ts';

const RATE = 16_000;
const ENDPOINTING = { threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 500 };

/** An ear over a fake recogniser; `change` stands in for the stream that it opens. */
function openEar(
  endpointing: EarOptions['endpointing'],
  change: (stream: SttStream, listener: SttListener) => SttStream = (stream) => stream,
) {
  const clock = new ManualClock();
  const engines = createFakeEngines();
  const { pocketsphinx } = engines.stt;
  const heard: Heard[] = [];
  const failures: string[] = [];
  let resumed = 0;
  const ear = new VoiceEar({
    ...{ clock, endpointing },
    encoding: 'linear16',
    sampleRateHz: RATE,
    vad: engines.vad,
    gates: undefined,
    openStt: async (listener) => change(await pocketsphinx.open({ listener }), listener),
    events: {
      began: () => {},
      ended: () => {},
      segment: () => {},
      heard: (utterance) => heard.push(utterance),
      failed: ({ message }) => failures.push(message),
      resumed: () => {
        resumed += 1;
      },
    },
  });

  /** Real-time pace, 100 ms at a time. */
  async function hear(pcm: Int16Array) {
    for (let at = 0; at < pcm.length; at += RATE / 10) {
      ear.push(bytesOf(pcm.slice(at, at + RATE / 10)));
      await settleAll();
      clock.advance(100);
    }
  }
  return { ear, clock, pocketsphinx, heard, failures, hear, resumed: () => resumed };
}

describe('VoiceEar', () => {
  it('gives back a recogniser that could not take sound, and says once that it is gone', async () => {
    const broken = openEar(null, (stream) => ({
      ...stream,
      push: () => {
        throw new Error('trap');
      },
    }));
    await broken.hear(tone(600, RATE));
    broken.ear.commit();
    await broken.ear.transcribed();
    expect(broken.failures).toEqual(['trap']);
    expect(broken.heard).toMatchObject([{ text: '', failed: true, heardMs: 600 }]);
    expect(broken.pocketsphinx.inUse).toBe(0);
  });

  it('gives back a recogniser that told of its failure, and hears the next speech with another', async () => {
    let opened = 0;
    const { ear, failures, hear, heard, pocketsphinx } = openEar(null, (stream, listener) => {
      opened += 1;
      if (opened > 1) return stream;
      return { ...stream, push: () => listener.failed(new Error('the decoder trapped')) };
    });
    await hear(tone(600, RATE));
    ear.commit();
    await hear(tone(1_000, RATE));
    ear.commit();
    await ear.transcribed();
    expect(failures).toEqual(['the decoder trapped']);
    expect(heard.map(({ failed, text }) => [failed, text])).toEqual([
      [true, ''],
      [false, 'w1 w2'],
    ]);
    expect([pocketsphinx.opened, pocketsphinx.inUse]).toEqual([2, 1]);
  });

  it("tells when words were said by the stream's clock, whatever was said before", async () => {
    const { ear, hear, heard, pocketsphinx } = openEar(ENDPOINTING, (stream, listener) => ({
      ...stream,
      async endUtterance() {
        const words = [{ word: 'yes', startMs: 350, endMs: 600 }];
        listener.transcript({ text: 'yes', isFinal: true, words });
      },
    }));
    for (const pause of [1_000, 1_500]) {
      await hear(silence(pause, RATE));
      await hear(tone(400, RATE));
      await hear(silence(700, RATE));
    }
    await ear.finish();
    expect(heard).toHaveLength(2);
    for (const { startMs, words } of heard) {
      expect(words).toEqual([{ word: 'yes', startMs: startMs + 350, endMs: startMs + 600 }]);
    }
    expect(heard[1]?.startMs).toBeGreaterThan(2_000);
    expect(pocketsphinx.opened).toBe(1);
  });

  it('loses one utterance with a recogniser that goes on, and makes out the next that was spoken meanwhile', async () => {
    let refuse = (_: Error) => {};
    let ended = 0;
    const { ear, failures, hear, heard, pocketsphinx } = openEar(null, (stream) => ({
      ...stream,
      async endUtterance() {
        ended += 1;
        await stream.endUtterance();
        if (ended === 1) await new Promise<void>((_resolve, reject) => (refuse = reject));
      },
    }));
    pocketsphinx.script.push('', 'the second');
    await hear(tone(600, RATE));
    ear.commit();
    await hear(tone(1_000, RATE));
    ear.commit();
    refuse(new UtteranceLost('lost', { cause: new Error('refused for now') }));
    await ear.transcribed();
    expect(failures).toEqual(['refused for now']);
    expect(heard.map(({ failed, text }) => [failed, text])).toEqual([
      [true, ''],
      [false, 'the second'],
    ]);
    expect(pocketsphinx.opened).toBe(1);
  });

  it('says that nothing is to be answered yet of an utterance that is forgotten or had no words', async () => {
    const forgotten = openEar(null);
    await forgotten.hear(tone(600, RATE));
    forgotten.ear.clear();
    expect(forgotten.resumed()).toBe(1);

    const wordless = openEar(null);
    wordless.pocketsphinx.script.push('');
    await wordless.hear(tone(600, RATE));
    wordless.ear.commit();
    await wordless.ear.transcribed();
    expect([wordless.heard.length, wordless.resumed()]).toEqual([1, 1]);
  });

  it('counts the silence that proved the end as latency, and none that nobody waited for', async () => {
    const ended = openEar(ENDPOINTING);
    await ended.hear(tone(1_000, RATE));
    await ended.hear(silence(900, RATE));
    expect(ended.heard[0]?.latencyMs).toBeGreaterThanOrEqual(500);
    expect(ended.heard[0]?.latencyMs).toBeLessThanOrEqual(700);

    const committed = openEar(ENDPOINTING);
    await committed.hear(tone(1_000, RATE));
    committed.ear.commit();
    await committed.ear.transcribed();

    const finished = openEar(ENDPOINTING);
    await finished.hear(tone(1_000, RATE));
    await finished.ear.finish();

    const cut = openEar(ENDPOINTING);
    await cut.hear(tone(61_000, RATE));
    for (const { heard } of [committed, finished, cut]) {
      expect(heard.map(({ latencyMs }) => latencyMs)).toEqual([0]);
    }
  });

  it('waits longer for a caller whose last word asks for more, where its endpointing says so', async () => {
    const patient = { ...ENDPOINTING, unfinishedSilenceMs: 2_000 };
    const afterSilence = async (said: string, silenceMs: number) => {
      const { heard, hear } = openEar(patient, (stream, listener) => ({
        ...stream,
        push: () => listener.transcript({ text: said, isFinal: false }),
      }));
      await hear(tone(800, RATE));
      await hear(silence(silenceMs, RATE));
      return heard.length;
    };
    expect(await afterSilence('what is my balance', 800)).toBe(1);
    expect(await afterSilence('what is the', 1_700)).toBe(0);
    expect(await afterSilence('what is the', 2_300)).toBe(1);
  });

  it('keeps no sound that was cleared, however long its recogniser takes to open', async () => {
    let open = () => {};
    const opening = new Promise<void>((resolve) => {
      open = resolve;
    });
    const pushed: number[] = [];
    const clock = new ManualClock();
    const ear = new VoiceEar({
      ...{ clock, endpointing: null, encoding: 'linear16', sampleRateHz: RATE, gates: undefined },
      vad: createFakeEngines().vad,
      async openStt() {
        await opening;
        return {
          push: (pcm) => void pushed.push(pcm[0] as number),
          async endUtterance() {},
          close() {},
        };
      },
      events: { began() {}, ended() {}, segment() {}, heard() {}, failed() {} },
    });
    for (const sample of [1, 2, 3]) {
      if (sample > 1) ear.clear();
      ear.push(bytesOf(new Int16Array(RATE / 10).fill(sample)));
    }
    open();
    await settleAll();
    expect(pushed).toEqual([3, 3, 3, 3, 3]);
  });
});
