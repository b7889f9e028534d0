import { describe, expect, it } from 'vitest';
import {
  type SttListener,
  type SttStream,
  type TurnSign,
  UtteranceLost,
} from '../../../../src/engines/engine.ts';
import { Transcriber } from '../../../../src/voice/stt/transcriber.ts';
import type { Heard } from '../../../../src/voice/stt/transcriber-events.ts';
import type { TranscriberOptions } from '../../../../src/voice/stt/transcriber-options.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { ENDPOINTING, openTranscriber, RATE } from '../../../support/open-transcriber.ts';
import { bytesOf, createFakeEngines, silence, tone } from '../../../support/voice-fakes.ts';
import { settleAll } from '../../../support/voice-world.ts';

describe('Transcriber', () => {
  it('Transcriber releases a recogniser that could not take audio, and reports its loss once', async () => {
    const broken = openTranscriber(null, (stream) => ({
      ...stream,
      push: () => {
        throw new Error('trap');
      },
    }));
    await broken.hear(tone(600, RATE));
    broken.transcriber.commit();
    await broken.transcriber.transcribed();
    expect(broken.failures).toEqual(['trap']);
    expect(broken.heard).toMatchObject([{ text: '', failed: true, heardMs: 600 }]);
    expect(broken.pocketsphinx.inUse).toBe(0);
  });

  it('Transcriber releases a recogniser that reported its failure, and uses another for the next speech', async () => {
    let opened = 0;
    const { transcriber, failures, hear, heard, pocketsphinx } = openTranscriber(
      null,
      (stream, listener) => {
        opened += 1;
        if (opened > 1) return stream;
        return { ...stream, push: () => listener.failed(new Error('the decoder trapped')) };
      },
    );
    await hear(tone(600, RATE));
    transcriber.commit();
    await hear(tone(1_000, RATE));
    transcriber.commit();
    await transcriber.transcribed();
    expect(failures).toEqual(['the decoder trapped']);
    expect(heard.map(({ failed, text }) => [failed, text])).toEqual([
      [true, ''],
      [false, 'w1 w2'],
    ]);
    expect([pocketsphinx.opened, pocketsphinx.inUse]).toEqual([2, 1]);
  });

  it("Transcriber reports word times on the stream's clock, whatever was said before", async () => {
    const { transcriber, hear, heard, pocketsphinx } = openTranscriber(
      ENDPOINTING,
      (stream, listener) => ({
        ...stream,
        async endUtterance() {
          const words = [{ word: 'yes', startMs: 350, endMs: 600 }];
          listener.transcript({ text: 'yes', isFinal: true, words });
        },
      }),
    );
    for (const pause of [1_000, 1_500]) {
      await hear(silence(pause, RATE));
      await hear(tone(400, RATE));
      await hear(silence(700, RATE));
    }
    await transcriber.finish();
    expect(heard).toHaveLength(2);
    for (const { startMs, words } of heard) {
      expect(words).toEqual([{ word: 'yes', startMs: startMs + 350, endMs: startMs + 600 }]);
    }
    expect(heard[1]?.startMs).toBeGreaterThan(2_000);
    expect(pocketsphinx.opened).toBe(1);
  });

  it('Transcriber loses the utterance whose recognition fails, and transcribes the next utterance, spoken before the failure', async () => {
    let refuse = (_: Error) => {};
    let ended = 0;
    const { transcriber, failures, hear, heard, pocketsphinx } = openTranscriber(
      null,
      (stream) => ({
        ...stream,
        async endUtterance() {
          ended += 1;
          await stream.endUtterance();
          if (ended === 1) await new Promise<void>((_resolve, reject) => (refuse = reject));
        },
      }),
    );
    pocketsphinx.script.push('', 'the second');
    await hear(tone(600, RATE));
    transcriber.commit();
    await hear(tone(1_000, RATE));
    transcriber.commit();
    refuse(new UtteranceLost('lost', { cause: new Error('refused for now') }));
    await transcriber.transcribed();
    expect(failures).toEqual(['refused for now']);
    expect(heard.map(({ failed, text }) => [failed, text])).toEqual([
      [true, ''],
      [false, 'the second'],
    ]);
    expect(pocketsphinx.opened).toBe(1);
  });

  it('Transcriber withdraws a reported pause when the utterance is dropped or has no words', async () => {
    const forgotten = openTranscriber(null);
    await forgotten.hear(tone(600, RATE));
    forgotten.transcriber.clear();
    expect(forgotten.resumed()).toBe(1);

    const wordless = openTranscriber(null);
    wordless.pocketsphinx.script.push('');
    await wordless.hear(tone(600, RATE));
    wordless.transcriber.commit();
    await wordless.transcriber.transcribed();
    expect([wordless.heard.length, wordless.resumed()]).toEqual([1, 1]);
  });

  it('Transcriber counts the silence that proved the end of an utterance as latency, and no other silence', async () => {
    const ended = openTranscriber(ENDPOINTING);
    await ended.hear(tone(1_000, RATE));
    await ended.hear(silence(900, RATE));
    expect(ended.heard[0]?.latencyMs).toBeGreaterThanOrEqual(500);
    expect(ended.heard[0]?.latencyMs).toBeLessThanOrEqual(700);

    const committed = openTranscriber(ENDPOINTING);
    await committed.hear(tone(1_000, RATE));
    committed.transcriber.commit();
    await committed.transcriber.transcribed();

    const finished = openTranscriber(ENDPOINTING);
    await finished.hear(tone(1_000, RATE));
    await finished.transcriber.finish();

    const cut = openTranscriber(ENDPOINTING);
    await cut.hear(tone(61_000, RATE));
    for (const { heard } of [committed, finished, cut]) {
      expect(heard.map(({ latencyMs }) => latencyMs)).toEqual([0]);
    }
  });

  it('Transcriber reports the pause between two utterances, however late the words of the first come', async () => {
    let finish = () => {};
    const { hear, heard, pocketsphinx, transcriber } = openTranscriber(ENDPOINTING, (stream) => ({
      ...stream,
      async endUtterance() {
        await stream.endUtterance();
        if (heard.length === 0) await new Promise<void>((resolve) => (finish = resolve));
      },
    }));
    pocketsphinx.script.push('four one five', 'five five five');
    await hear(tone(600, RATE));
    await hear(silence(900, RATE));
    await hear(tone(2_000, RATE));
    finish();
    await settleAll();
    expect(heard[0]?.latencyMs).toBeGreaterThan(2_000);
    expect(heard[0]?.silentMs).toBeGreaterThanOrEqual(500);
    expect(heard[0]?.silentMs).toBeLessThanOrEqual(1_000);
    await transcriber.finish();
  });

  it('Transcriber waits for the silence that the words so far require', async () => {
    const silenceAfter = (words: string) => (words.endsWith('the') ? 2_000 : 500);
    const afterSilence = async (said: string, silenceMs: number) => {
      const tells = (stream: SttStream, listener: SttListener) => ({
        ...stream,
        push: () => listener.transcript({ text: said, isFinal: false }),
      });
      const { heard, hear } = openTranscriber(ENDPOINTING, tells, silenceAfter);
      await hear(tone(800, RATE));
      await hear(silence(silenceMs, RATE));
      return heard.length;
    };
    expect(await afterSilence('what is my balance', 800)).toBe(1);
    expect(await afterSilence('what is the', 1_700)).toBe(0);
    expect(await afterSilence('what is the', 2_300)).toBe(1);
  });

  it('Transcriber keeps no audio that was cleared, however long its recogniser takes to open', async () => {
    let open = () => {};
    const opening = new Promise<void>((resolve) => {
      open = resolve;
    });
    const pushed: number[] = [];
    const clock = new ManualClock();
    const transcriber = new Transcriber({
      clock,
      endpointing: null,
      encoding: 'linear16',
      sampleRateHz: RATE,
      gates: undefined,
      vad: createFakeEngines().vad,
      async openStt() {
        await opening;
        return {
          push: (pcm) => void pushed.push(...pcm),
          async endUtterance() {},
          close() {},
        };
      },
      events: { began() {}, ended() {}, segment() {}, heard() {}, failed() {} },
    });
    for (const sample of [1, 2, 3]) {
      if (sample > 1) transcriber.clear();
      transcriber.push(bytesOf(new Int16Array(RATE / 10).fill(sample)));
    }
    open();
    await settleAll();
    expect(pushed).toEqual(Array.from({ length: RATE / 10 }, () => 3));
  });

  it('Transcriber passes each utterance whole and in order, in pieces of 100 ms and the rest at its end', async () => {
    const ended: (readonly number[])[] = [];
    const lengths = new Set<number>();
    let heard: number[] = [];
    const clock = new ManualClock();
    const transcriber = new Transcriber({
      clock,
      endpointing: null,
      encoding: 'linear16',
      sampleRateHz: RATE,
      gates: undefined,
      vad: createFakeEngines().vad,
      openStt: async () => ({
        push(pcm) {
          lengths.add(pcm.length);
          heard.push(...pcm);
        },
        async endUtterance() {
          ended.push(heard);
          heard = [];
        },
        close() {},
      }),
      events: { began() {}, ended() {}, segment() {}, heard() {}, failed() {} },
    });
    const frame = RATE / 50;
    const said = [1, 4, 5, 6, 13].map((frames, nth) =>
      Int16Array.from({ length: frames * frame }, (_, at) => nth * 4_000 + (at % 3_989)),
    );
    for (const sound of said) {
      for (let at = 0; at < sound.length; at += frame) {
        transcriber.push(bytesOf(sound.subarray(at, at + frame)));
        await settleAll();
      }
      transcriber.commit();
      await settleAll();
    }
    expect(ended).toEqual(said.map((sound) => [...sound]));
    expect(Math.max(...lengths)).toBe(5 * frame);
  });
});

describe('a transcriber whose recogniser finds the ends of turns', () => {
  const BOUNDS = { leastMs: 300, mostMs: 1_800, isEager: true };

  async function openTurns({ turns = BOUNDS as TranscriberOptions['turns'] | null } = {}) {
    let listener: SttListener | undefined;
    const events: string[] = [];
    const clock = new ManualClock();
    const engines = createFakeEngines();
    const heard: Heard[] = [];
    const transcriber = new Transcriber({
      clock,
      turns: turns ?? undefined,
      encoding: 'linear16',
      sampleRateHz: RATE,
      endpointing: { ...ENDPOINTING, silenceDurationMs: 300 },
      silenceAfter: () => 700,
      vad: engines.vad,
      gates: undefined,
      async openStt(own) {
        listener = own;
        return { takesTurns: true, push() {}, async endUtterance() {}, close() {} };
      },
      events: {
        began: () => {},
        ended: (atMs) => events.push(`ended ${atMs}`),
        segment: () => {},
        heard: (utterance) => heard.push(utterance),
        failed: () => {},
        paused: (text) => events.push(`paused ${text}`),
        resumed: () => events.push('resumed'),
      },
    });
    const hear = async (pcm: Int16Array) => {
      for (let at = 0; at < pcm.length; at += RATE / 50) {
        transcriber.push(bytesOf(pcm.slice(at, at + RATE / 50)));
        await settleAll();
        clock.advance(20);
      }
    };
    const says = (text: string, isFinal = false) => listener?.transcript({ text, isFinal });
    const tells = (sign: TurnSign) => listener?.turn?.(sign);
    await hear(silence(500, RATE));
    await hear(tone(1_000, RATE));
    says('what is my');
    return { events, hear, heard, says, tells, transcriber };
  }

  /** When the utterance ended: its last voice was at 1,500 ms. */
  const endOf = (events: readonly string[]) =>
    Number(events.find((event) => event.startsWith('ended'))?.replace('ended ', '')) - 1_500;

  it('a transcriber with end-of-turn detection ends an utterance at the detected end, not before the shortest silence', async () => {
    const { events, hear, heard, says, tells } = await openTurns();
    says('what is my balance', true);
    tells('over');
    await hear(silence(600, RATE));
    expect(endOf(events)).toBeGreaterThanOrEqual(BOUNDS.leastMs);
    expect(endOf(events)).toBeLessThan(500);
    expect(heard).toMatchObject([{ text: 'what is my balance', isTurnOver: true }]);
  });

  it('a transcriber with end-of-turn detection waits for the detected end through a longer silence, whatever the words', async () => {
    const { events, hear, heard, says, tells } = await openTurns();
    await hear(silence(1_000, RATE));
    expect(events).toEqual([]);
    says('what is my balance', true);
    tells('over');
    await hear(silence(40, RATE));
    expect(endOf(events)).toBeLessThan(1_100);
    expect(heard).toHaveLength(1);
  });

  it('a transcriber with end-of-turn detection ends an utterance after the longest silence when no end is detected', async () => {
    const { events, hear, heard } = await openTurns();
    await hear(silence(2_200, RATE));
    expect(endOf(events)).toBeGreaterThanOrEqual(BOUNDS.mostMs);
    expect(endOf(events)).toBeLessThan(BOUNDS.mostMs + 200);
    expect(heard[0]?.isTurnOver).toBeUndefined();
  });

  it('a transcriber with end-of-turn detection waits again when words follow a detected end', async () => {
    const { events, hear, says, tells } = await openTurns();
    says('what is my', true);
    tells('over');
    says('balance');
    await hear(silence(1_000, RATE));
    expect(events).toEqual([]);
  });

  it('a transcriber with end-of-turn detection reports a likely end, and that the caller goes on after all', async () => {
    const { events, tells } = await openTurns();
    tells('likely_over');
    tells('resumed');
    expect(events).toEqual(['paused what is my', 'resumed']);
  });

  it('a transcriber ignores detected ends of turns when the client chose a silence', async () => {
    const { events, hear, tells } = await openTurns({ turns: null });
    tells('likely_over');
    tells('over');
    await hear(silence(1_000, RATE));
    expect(events.some((event) => event.startsWith('paused'))).toBe(false);
    expect(endOf(events)).toBeGreaterThanOrEqual(700);
  });
});
