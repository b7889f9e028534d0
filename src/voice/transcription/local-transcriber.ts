import type { SoundCoding } from '../../../media/coding.ts';
import type { SttListener, SttStream } from '../../engines/engine.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';
import { ENGINE_FAILED } from '../live/voice-endings.ts';
import { Transcriber } from '../stt/transcriber.ts';
import type { TranscriberEvents } from '../stt/transcriber-events.ts';
import type { StreamTranscriber, StreamTranscriberEvents } from './stream-transcriber.ts';

/** Recogniser that was opened for a stream before the stream was accepted. */
export type TakenRecogniser = {
  readonly stt: SttStream;
  /** Sets the recogniser's listener once the stream exists. Throws when the recogniser has already failed. */
  readonly listen: (listener: SttListener) => void;
};

export type LocalHearingInput = {
  readonly encoding: SoundCoding;
  readonly sampleRateHz: number;
  readonly silenceDurationMs: number;
  readonly recogniser: TakenRecogniser;
};

const SPEECH = { threshold: 0.5, prefixPaddingMs: 300 };

/**
 * Transcribes a stream with a recogniser of this process. Silence counts as heard when it arrives, speech when it is
 * transcribed: speech that fails is not billed.
 */
export class LocalTranscriber implements StreamTranscriber {
  readonly isOwed = false;
  readonly hasReportedTotal = false;
  readonly #stt: SttStream;
  readonly #stage: StreamTranscriberEvents;
  readonly #transcriber: Transcriber;
  #engineFailed = false;
  #isGivenUp = false;
  #isOver = false;
  #isClosed = false;
  /** Resolves when every `Finalize` up to now is answered. */
  #answered: Promise<void> = Promise.resolve();

  constructor(
    deps: Pick<VoiceDeps, 'clock' | 'speechGates'> & {
      readonly engines: Pick<VoiceDeps['engines'], 'vad'>;
    },
    input: LocalHearingInput,
    stage: StreamTranscriberEvents,
  ) {
    const { encoding, recogniser, sampleRateHz, silenceDurationMs } = input;
    const { listen, stt } = recogniser;
    this.#stt = stt;
    this.#stage = stage;
    this.#transcriber = new Transcriber({
      clock: deps.clock,
      encoding,
      sampleRateHz,
      endpointing: { ...SPEECH, silenceDurationMs },
      vad: deps.engines.vad,
      gates: deps.speechGates,
      openStt: async (listener) => {
        // A stream has only the recogniser that was opened at the upgrade.
        if (this.#engineFailed) throw new Error('the recogniser of this stream is gone');
        listen(listener);
        return stt;
      },
      events: this.#transcriberEvents(),
    });
  }

  attach(): void {}

  detach(): void {}

  drained(): void {}

  hear(bytes: Uint8Array): void {
    this.#transcriber.push(bytes);
    // `push` may have ended the stream.
    if (this.#isOver) return;
    if (!this.#transcriber.isBusy) this.#stage.heardUpTo(Number.POSITIVE_INFINITY);
    this.#stage.writer.took(bytes, this.#transcriber.nowMs);
  }

  message(type: string, text: string): void {
    if (type === 'Finalize' || type === 'ForceEndTurn') this.#finalize();
    else this.#stage.writer.message?.(type, text);
  }

  keep(): void {}

  async finish(): Promise<void> {
    this.#isOver = true;
    await this.#transcriber.finish();
    await this.#answered;
  }

  giveUp(): void {
    this.#isGivenUp = true;
  }

  /**
   * Returns the seconds to bill: 0 after a failure, otherwise all. A client that leaves within an utterance pays for its audio
   * so far.
   */
  get heardSeconds(): number {
    return this.#engineFailed || this.#isGivenUp ? 0 : Number.POSITIVE_INFINITY;
  }

  close(): void {
    this.#isOver = true;
    this.#isClosed = true;
    this.#transcriber.close();
    this.#stt.close();
  }

  #finalize(): void {
    const atMs = this.#transcriber.nowMs;
    if (this.#transcriber.commit()) return;
    const before = this.#answered;
    this.#answered = this.#transcriber
      .transcribed()
      .then(() => before)
      .then(() => {
        if (!this.#isClosed) this.#stage.writer.nothingLeft(atMs);
      })
      .catch((error: unknown) => this.#stage.failed(ENGINE_FAILED, error));
  }

  #transcriberEvents(): TranscriberEvents {
    const { transcribed, progressed, heardUpTo, writer } = this.#stage;
    return {
      began: (atMs) => writer.began(atMs),
      ended: () => {},
      segment: (segment) => writer.segment(segment),
      working: progressed,
      heard: (heard) => {
        if (!heard.failed)
          heardUpTo(this.#transcriber.isBusy ? heard.endMs / 1_000 : Number.POSITIVE_INFINITY);
        transcribed(heard.latencyMs);
        writer.heard(heard);
      },
      failed: (error) => {
        this.#engineFailed = true;
        this.#stage.failed(ENGINE_FAILED, error);
      },
    };
  }
}
