import type { SttListener, SttStream } from '../../src/engines/engine.ts';
import { Transcriber } from '../../src/voice/stt/transcriber.ts';
import type { Heard } from '../../src/voice/stt/transcriber-events.ts';
import type { TranscriberOptions } from '../../src/voice/stt/transcriber-options.ts';
import { ManualClock } from './manual-clock.ts';
import { bytesOf, createFakeEngines } from './voice-fakes.ts';
import { settleAll } from './voice-world.ts';

export const RATE = 16_000;
export const ENDPOINTING = { threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 500 };

/** A transcriber over a fake recogniser; `change` stands in for the stream that it opens. */
export function openTranscriber(
  endpointing: TranscriberOptions['endpointing'],
  change: (stream: SttStream, listener: SttListener) => SttStream = (stream) => stream,
  silenceAfter?: TranscriberOptions['silenceAfter'],
) {
  const clock = new ManualClock();
  const engines = createFakeEngines();
  const { pocketsphinx } = engines.stt;
  const heard: Heard[] = [];
  const failures: string[] = [];
  let resumed = 0;
  const transcriber = new Transcriber({
    clock,
    endpointing,
    silenceAfter,
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
      transcriber.push(bytesOf(pcm.slice(at, at + RATE / 10)));
      await settleAll();
      clock.advance(100);
    }
  }
  return { transcriber, clock, pocketsphinx, heard, failures, hear, resumed: () => resumed };
}
