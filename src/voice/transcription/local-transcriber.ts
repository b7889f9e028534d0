import type { SttListener, SttStream } from '../../engines/engine.ts';
import type { AudioEncoding } from '../session/audio-format.ts';
import type { VoiceDeps } from '../session/voice-deps.ts';
import { ENGINE_FAILED } from '../session/voice-endings.ts';
import { Transcriber } from '../stt/transcriber.ts';
import type { TranscriberEvents } from '../stt/transcriber-events.ts';
import type { StreamTranscriber, StreamTranscriberEvents } from './stream-transcriber.ts';

/** The recogniser that was taken for one stream before it was accepted. */
export type TakenRecogniser = {
  readonly stt: SttStream;
  /** Tells the recogniser's listener, which had to exist before the stream; throws if it is gone by now. */
  readonly listen: (listener: SttListener) => void;
};

export type LocalHearingInput = {
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: number;
  readonly silenceDurationMs: number;
  readonly recogniser: TakenRecogniser;
};

const SPEECH = { threshold: 0.5, prefixPaddingMs: 300 };

/**
 * A stream heard by a recogniser of this process. Silence is heard as it comes, and speech when it is transcribed: what a
 * recogniser fails to transcribe was not heard.
 */
export class LocalTranscriber implements StreamTranscriber {
  readonly isOwed = false;
  readonly hasToldTotal = false;
  readonly #stt: SttStream;
  readonly #stage: StreamTranscriberEvents;
  readonly #transcriber: Transcriber;
  #engineFailed = false;
  #isGivenUp = false;
  #isOver = false;

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
        // One recogniser a stream: it was taken at the upgrade, and a second is not to be had.
        if (this.#engineFailed) throw new Error('the recogniser of this stream is gone');
        listen(listener);
        return stt;
      },
      events: this.#earEvents(),
    });
  }

  attach(): void {}

  detach(): void {}

  drained(): void {}

  hear(bytes: Uint8Array): void {
    this.#transcriber.push(bytes);
    // Hearing it may have ended the stream.
    if (this.#isOver) return;
    if (!this.#transcriber.isBusy) this.#stage.told(Number.POSITIVE_INFINITY);
    this.#stage.writer.took(bytes, this.#transcriber.nowMs);
  }

  word(type: string): void {
    if (type === 'Finalize') this.#finalize();
  }

  keep(): void {}

  async finish(): Promise<void> {
    this.#isOver = true;
    await this.#transcriber.finish();
  }

  giveUp(): void {
    this.#isGivenUp = true;
  }

  /** Who leaves in the middle of his words has had those so far. */
  get heardSeconds(): number {
    return this.#engineFailed || this.#isGivenUp ? 0 : Number.POSITIVE_INFINITY;
  }

  close(): void {
    this.#isOver = true;
    this.#transcriber.close();
    this.#stt.close();
  }

  #finalize(): void {
    const atMs = this.#transcriber.nowMs;
    if (this.#transcriber.commit()) return;
    this.#transcriber
      .transcribed()
      .then(() => {
        if (!this.#isOver) this.#stage.writer.nothingLeft(atMs);
      })
      .catch((error: unknown) => this.#stage.failed(ENGINE_FAILED, error));
  }

  #earEvents(): TranscriberEvents {
    const { madeOut, progressed, told, writer } = this.#stage;
    return {
      began: (atMs) => writer.began(atMs),
      ended: () => {},
      segment: (segment) => writer.segment(segment),
      working: progressed,
      heard: (heard) => {
        if (!heard.failed)
          told(this.#transcriber.isBusy ? heard.endMs / 1_000 : Number.POSITIVE_INFINITY);
        madeOut(heard.latencyMs);
        writer.heard(heard);
      },
      failed: (error) => {
        this.#engineFailed = true;
        this.#stage.failed(ENGINE_FAILED, error);
      },
    };
  }
}
