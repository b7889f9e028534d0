import {
  type FileTranscriber,
  type HeardSpeech,
  openFileTranscriber,
} from '../../../engines/asr/file-transcriber.ts';
import {
  type DecodedFile,
  EngineBusy,
  EngineInputRefused,
  EngineMissing,
  type LocalEngines,
} from '../../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import type { SpeechGates } from '../../../engines/vad/fvad-gate.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import { StreamBroken } from '../openai/answer-reader.ts';
import { deltaEvent, doneEvent } from '../openai/transcript-events.ts';
import { failed, type Outcome } from '../outcome.ts';
import type {
  TranscriptionCall,
  TranscriptionRail,
  TranscriptStream,
} from '../transcription-rail.ts';
import { createAgentSlots, type TakeAgentSlot } from './agent-slots.ts';
import { renderFor, textOf, usageOf } from './render-transcript.ts';

export type LocalTranscriptionDeps = {
  readonly engines: Pick<LocalEngines, 'decoding' | 'stt' | 'vad'>;
  /** Voice-activity gates. Undefined: only loudness decides which audio is speech. */
  readonly gates: SpeechGates | undefined;
};

type EarDeps = LocalTranscriptionDeps & { readonly takeSlot: TakeAgentSlot };

type Unserved = Exclude<Outcome<never>, { kind: 'completed' }>;

const LANGUAGE = 'english';

/**
 * Creates the rail of the local recognisers. They recognise English, and read all files whose duration is measured, except WAV
 * with GSM or ADPCM inside.
 */
export function createLocalTranscriptionRail({
  engines,
  gates,
}: LocalTranscriptionDeps): TranscriptionRail {
  const deps: EarDeps = {
    engines,
    gates,
    takeSlot: createAgentSlots(ENGINE_LIMITS.decoder.filesPerAgent),
  };
  return {
    async transcribe(call, signal) {
      const { format } = call;
      if (format === 'diarized_json') return NO_SPEAKERS;
      const opened = await openEar(deps, call);
      if ('kind' in opened) return opened;
      const leave = () => opened.close();
      signal.addEventListener('abort', leave, { once: true });
      try {
        const segments = await hearAll(opened);
        if (signal.aborted) return { kind: 'aborted' };
        // Duration of the decoded audio, which may differ from the duration in the file's header.
        const durationMs = opened.heardMs;
        const heard = { segments, durationMs, language: LANGUAGE };
        const whole = await renderFor(heard, format, call);
        const usage = { seconds: durationMs / 1_000, tokens: null };
        return { kind: 'completed', status: 200, ...whole, usage };
      } catch (error) {
        return failureOf(error);
      } finally {
        signal.removeEventListener('abort', leave);
        opened.close();
      }
    },
    async stream(call, signal) {
      if (call.format === 'diarized_json') return NO_SPEAKERS;
      const opened = await openEar(deps, call);
      if ('kind' in opened) return opened;
      if (signal.aborted) {
        opened.close();
        return { kind: 'aborted' };
      }
      return { kind: 'completed', status: 200, stream: new HeardTranscript(opened) };
    },
  };
}

async function openEar(
  { engines, gates, takeSlot }: EarDeps,
  { agentId, file, language, model, prompt }: TranscriptionCall,
): Promise<FileTranscriber | Unserved> {
  if (language !== undefined && !/^en(glish)?\b/i.test(language)) {
    return unfit(`"local/${model}" hears English only.`, 'language');
  }
  const most = MODEL_LIMITS.transcription.localSeconds;
  if (file.durationMs > most * 1_000) {
    return unfit(`The local engines take at most ${most} s of sound at a time.`, 'file');
  }
  const isGrammar = model === 'grammar';
  const stt = isGrammar ? engines.stt.grammar : engines.stt.pocketsphinx;
  const giveBack = takeSlot(agentId);
  if (giveBack === undefined) {
    return failed('busy', 'too many files of one agent', null, ENGINE_LIMITS.decoder.retrySeconds);
  }
  let decoded: DecodedFile | undefined;
  try {
    decoded = await engines.decoding.open(file.bytes, file.durationMs);
    const ear = { stt, vad: engines.vad, gates };
    const grammar = isGrammar ? (prompt ?? '') : undefined;
    return givingBack(await openFileTranscriber(ear, decoded, grammar), giveBack);
  } catch (error) {
    decoded?.close();
    giveBack();
    return failureOf(error);
  }
}

/** Returns the transcriber, extended to free its slot when the whole file was transcribed or the transcriber is closed. */
function givingBack(ear: FileTranscriber, giveBack: () => void): FileTranscriber {
  return {
    async next() {
      const speech = await ear.next();
      if (speech === undefined) giveBack();
      return speech;
    },
    get heardMs() {
      return ear.heardMs;
    },
    close() {
      ear.close();
      giveBack();
    },
  };
}

const unfit = (detail: string, param: string) => ({ kind: 'unfit', detail, param }) as const;

const NO_SPEAKERS = unfit('The local engines do not tell speakers apart.', 'response_format');

async function hearAll(ear: FileTranscriber): Promise<HeardSpeech[]> {
  const segments: HeardSpeech[] = [];
  for (;;) {
    const speech = await ear.next();
    if (speech === undefined) return segments;
    segments.push(speech);
  }
}

function failureOf(error: unknown): Unserved {
  if (error instanceof EngineMissing) return failed('missing', error.message);
  if (error instanceof EngineBusy) {
    return failed('busy', error.message, null, error.retryAfterSeconds);
  }
  if (error instanceof EngineInputRefused) return unfit(error.message, error.param ?? 'prompt');
  return failed('broken', error instanceof Error ? error.message : String(error));
}

/** Transcript of a file in progress: one event for each stretch of speech. */
class HeardTranscript implements TranscriptStream {
  readonly #ear: FileTranscriber;
  readonly #segments: HeardSpeech[] = [];
  #isDone = false;

  constructor(ear: FileTranscriber) {
    this.#ear = ear;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#isDone) return undefined;
    const speech = await this.#hear();
    if (this.#isDone) return undefined;
    if (speech === undefined) {
      this.#isDone = true;
      const durationMs = this.#ear.heardMs;
      return doneEvent(textOf({ segments: this.#segments }), usageOf({ durationMs }));
    }
    this.#segments.push(speech);
    return deltaEvent(this.#segments.length === 1 ? speech.text : ` ${speech.text}`);
  }

  /** Returns the seconds transcribed so far. A client that leaves pays for them. */
  metered() {
    return { seconds: this.#ear.heardMs / 1_000, tokens: null };
  }

  stop(): void {
    this.#isDone = true;
    this.#ear.close();
  }

  async #hear(): Promise<HeardSpeech | undefined> {
    try {
      return await this.#ear.next();
    } catch (error) {
      this.stop();
      throw new StreamBroken('the recogniser failed', { cause: error });
    }
  }
}
