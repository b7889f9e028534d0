import type { SoundEncoding, SpeechChunk, TtsEngine } from '../../../engines/engine.ts';
import { EngineBusy, EngineInputRefused, EngineMissing } from '../../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { abortSignalOf, type StopSignal } from '../../../kernel/stop-signal.ts';
import { SPEECH_LIMITS } from '../../speech/limits.ts';
import { AUDIO_TYPES } from '../audio-type.ts';
import { failed, type Outcome } from '../outcome.ts';
import type { Speech, SpeechCall, SpeechFormat, SpeechRail } from '../speech-rail.ts';
import { createAgentSlots } from './agent-slots.ts';
import { encodedFile } from './encoded-file.ts';
import { MadeSpeech } from './made-speech.ts';
import { spokenPcm, spokenSamples } from './spoken-pcm.ts';
import { wavFile } from './wav-file.ts';

export type LocalSpeechDeps = { readonly engine: TtsEngine; readonly encoding: SoundEncoding };

/** Creates the rail of the built-in synthesiser. */
export function createLocalSpeechRail(deps: LocalSpeechDeps): SpeechRail {
  let inFlight = 0;
  const takeSlot = createAgentSlots(ENGINE_LIMITS.speech.perAgent);

  async function speak(call: SpeechCall, signal: StopSignal): Promise<Outcome<Speech>> {
    if (inFlight >= SPEECH_LIMITS.localInFlight) return failed('busy', 'too much speech', null, 1);
    const giveBack = takeSlot(call.agentId);
    if (giveBack === undefined) return failed('busy', 'too much speech of one agent', null, 1);
    inFlight++;
    const onOver = () => {
      inFlight--;
      giveBack();
    };
    const leaving = new AbortController();
    const heard = AbortSignal.any([abortSignalOf(signal), leaving.signal]);
    const file = fileOf(deps.encoding, call.format, spoken(deps.engine, call, heard));
    const sound = new MadeSpeech(file, { onStop: () => leaving.abort(), onOver });
    try {
      const hasSound = await sound.begin();
      if (signal.aborted) {
        sound.stop();
        return { kind: 'aborted' };
      }
      if (!hasSound) return { kind: 'unfit', detail: NOTHING_TO_SAY, param: 'input' };
      return { kind: 'completed', status: 200, contentType: AUDIO_TYPES[call.format], sound };
    } catch (error) {
      return signal.aborted ? { kind: 'aborted' } : failureOf(error);
    }
  }

  return {
    makes: (format) => format === 'wav' || format === 'pcm' || deps.encoding.makes(format),
    speak,
  };
}

const NOTHING_TO_SAY =
  'There is nothing in it that this engine can speak: it knows the letters and digits of ASCII.';

function fileOf(
  encoding: SoundEncoding,
  format: SpeechFormat,
  chunks: AsyncIterable<SpeechChunk>,
): AsyncGenerator<Uint8Array> {
  if (format === 'pcm') return spokenPcm(chunks);
  if (format === 'wav') return wavFile(spokenPcm(chunks));
  return encodedFile(encoding, format, spokenSamples(chunks));
}

function spoken(
  engine: TtsEngine,
  { agentId, input, body }: SpeechCall,
  signal: AbortSignal,
): AsyncIterable<SpeechChunk> {
  const speed = typeof body.speed === 'number' ? { speed: body.speed } : {};
  return engine.speak({
    text: input,
    voice: voiceOf(body),
    signal,
    ...speed,
    ...(agentId !== undefined && { agentId }),
  });
}

/** Returns the name of the requested voice. The engine replaces an unknown voice by its first one. */
function voiceOf({ voice }: Json): string {
  if (isObject(voice)) return String(voice.id);
  return String(voice ?? '');
}

function failureOf(error: unknown): Outcome<Speech> {
  if (error instanceof EngineMissing) return failed('missing', error.message);
  if (error instanceof EngineBusy) {
    return failed('busy', error.message, null, error.retryAfterSeconds);
  }
  if (error instanceof EngineInputRefused) {
    return { kind: 'unfit', detail: error.message, param: 'input' };
  }
  return failed('broken', error instanceof Error ? error.message : String(error));
}
