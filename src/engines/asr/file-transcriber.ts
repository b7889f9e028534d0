import { HEARING_FRAME, HEARING_HZ } from '../../../media/hearing.ts';
import { RecentSound } from '../../../media/recent-sound.ts';
import type { VadEvent } from '../../../media/vad.ts';
import { soon } from '../../kernel/clock.ts';
import type {
  DecodedFile,
  SttEngine,
  SttStream,
  TimedWord,
  Transcript,
  VadEngine,
} from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { SpeechGates } from '../vad/fvad-gate.ts';
import { VoiceDetector } from '../vad/vad-detector.ts';
import { shiftWords } from './shift-words.ts';

const FRAME_MS = (HEARING_FRAME * 1_000) / HEARING_HZ;
/** Frames of audio kept from before the detector reports speech: the longest delay of that report, and a margin. */
const LEAD_FRAMES = 32;
/** Frames that are processed before other work gets a turn, few enough for the detector's model to keep up. */
const FRAMES_A_TURN = 8;

/** Speech between two silences. Times are milliseconds of the file. */
export type HeardSpeech = {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  /** Undefined when the recogniser reports no word times. */
  readonly words: readonly TimedWord[] | undefined;
};

export type FileTranscriberDeps = {
  readonly stt: SttEngine;
  readonly vad: VadEngine;
  /** First stage of speech detection. When undefined, loudness alone decides. */
  readonly gates: SpeechGates | undefined;
};

/** Transcribes a file as fast as it can be decoded, one stretch of speech after another. */
export interface FileTranscriber {
  /**
   * Returns the next stretch of speech that has words; undefined at the end of the file. Throws when a recogniser or decoder
   * fails.
   */
  next(): Promise<HeardSpeech | undefined>;
  /** Duration of the audio transcribed up to now, in milliseconds; at the end, the duration of the file. */
  readonly heardMs: number;
  /** Gives the recogniser and the decoder back. Safe to call twice. */
  close(): void;
}

/**
 * Opens a recogniser for `file`. When it rejects (EngineBusy, EngineMissing, EngineInputRefused), the caller still has to close
 * `file`.
 */
export async function openFileTranscriber(
  deps: FileTranscriberDeps,
  file: DecodedFile,
  grammar?: string,
): Promise<FileTranscriber> {
  const heard: Transcript[] = [];
  let failure: Error | undefined;
  const stt = await deps.stt.open({
    sampleRateHz: HEARING_HZ,
    load: 'file',
    listener: {
      transcript: (transcript) => {
        if (transcript.isFinal && transcript.text !== '') heard.push(transcript);
      },
      failed: (error) => {
        failure = error;
      },
    },
    ...(grammar === undefined ? {} : { grammar }),
  });
  const ear = new Ear(deps, stt, file, () => heard.splice(0));
  return {
    async next() {
      const speech = await ear.next(() => {
        if (failure !== undefined) throw failure;
      });
      return speech;
    },
    get heardMs() {
      return ear.heardMs;
    },
    close: () => ear.close(),
  };
}

class Ear {
  readonly #stt: SttStream;
  readonly #file: DecodedFile;
  readonly #takeHeard: () => readonly Transcript[];
  readonly #sound = new RecentSound();
  readonly #detector: VoiceDetector;
  #lead: Int16Array[] = [];
  /** The decoded part of the file that is being transcribed. Undefined at the end of the file. */
  #decoded: Int16Array | undefined = new Int16Array(0);
  #at = 0;
  #count = 0;
  #startMs: number | undefined;
  #ended: { readonly startMs: number; readonly endMs: number } | undefined;
  #isOver = false;

  constructor(
    { gates, vad }: FileTranscriberDeps,
    stt: SttStream,
    file: DecodedFile,
    takeHeard: () => readonly Transcript[],
  ) {
    this.#stt = stt;
    this.#file = file;
    this.#takeHeard = takeHeard;
    this.#detector = new VoiceDetector({
      sound: this.#sound,
      ...(gates && { gate: gates.open() }),
      engine: vad,
      onEvent: (event) => this.#turn(event),
    });
  }

  get heardMs(): number {
    // The last frame may be padded, and the file's duration leaves the padding out.
    return Math.min(this.#count * FRAME_MS, this.#file.soundMs);
  }

  async next(mustWork: () => void): Promise<HeardSpeech | undefined> {
    while (!this.#isOver) {
      if (this.#at === this.#decoded?.length) await this.#decode();
      if (this.#isOver) break;
      this.#listen();
      const ended = this.#ended;
      this.#ended = undefined;
      // Waits for the recogniser after each stretch of speech, so that it is never more than one stretch behind.
      if (ended !== undefined) await this.#stt.endUtterance();
      await this.#detector.settled();
      await new Promise<void>(soon);
      mustWork();
      const heard = ended === undefined ? [] : this.#takeHeard();
      if (ended !== undefined && heard.length > 0) return speechOf(ended, heard);
    }
    this.close();
    return undefined;
  }

  close(): void {
    this.#isOver = true;
    this.#detector.close();
    this.#stt.close();
    this.#file.close();
  }

  async #decode(): Promise<void> {
    this.#decoded = await this.#file.next();
    this.#at = 0;
  }

  #listen(): void {
    for (let i = 0; i < FRAMES_A_TURN && this.#ended === undefined; i++) {
      if (this.#at === this.#decoded?.length) return;
      if (this.#decoded === undefined) {
        // Speech that lasts to the end of the file ends there. The model may still report on the last frames.
        if (this.#startMs !== undefined) this.#end(this.heardMs);
        else if (i === 0) this.#isOver = true;
        return;
      }
      this.#hear(this.#decoded.subarray(this.#at, this.#at + HEARING_FRAME));
      this.#at += HEARING_FRAME;
    }
  }

  #hear(frame: Int16Array): void {
    this.#count += 1;
    if (this.#startMs === undefined) this.#keep(frame);
    else this.#stt.push(frame);
    this.#sound.push(frame);
    this.#detector.push(frame);
    if (this.#startMs === undefined) return;
    if (this.heardMs - this.#startMs < ENGINE_LIMITS.utterance.committedSeconds * 1_000) return;
    this.#detector.reset();
    this.#end(this.heardMs);
  }

  #keep(frame: Int16Array): void {
    this.#lead.push(frame);
    if (this.#lead.length > LEAD_FRAMES) this.#lead.shift();
  }

  #turn(event: VadEvent): void {
    if (event.kind === 'speech_stopped') this.#end(event.lastVoiceMs);
    else if (event.kind === 'speech_started' && this.#startMs === undefined) {
      this.#begin(event.startMs);
    }
  }

  #begin(startMs: number): void {
    const wanted = Math.round((this.heardMs - startMs) / FRAME_MS);
    const lead = this.#lead.slice(Math.max(0, this.#lead.length - wanted));
    this.#lead = [];
    this.#startMs = this.heardMs - lead.length * FRAME_MS;
    for (const frame of lead) this.#stt.push(frame);
  }

  #end(endMs: number): void {
    if (this.#startMs === undefined) return;
    this.#ended = { startMs: Math.round(this.#startMs), endMs: Math.round(endMs) };
    this.#startMs = undefined;
  }
}

function speechOf(
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  heard: readonly Transcript[],
): HeardSpeech {
  const words = shiftWords(heard, startMs);
  return { startMs, endMs, text: heard.map(({ text }) => text).join(' '), words };
}
