import { DEFAULT_CONFIG, type SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import { type CascadePlan, localEngineOf } from './plan-cascade.ts';

/** The voice that every speech model of the dialect has. */
const USUAL_VOICE = 'alloy';

/** A session that names no voice begins with one of the local engine's, which no other model has. */
export const fittingVoice = ({ tts }: CascadePlan, config: SessionConfig): SessionConfig =>
  localEngineOf(tts) === undefined && config.voice === DEFAULT_CONFIG.voice
    ? { ...config, voice: spokenVoice(tts.id, USUAL_VOICE) }
    : config;

/** Which voices a speech model has of its own, and what stands for the others. */
type Voices = {
  readonly has: (voice: string) => boolean;
  /** Of OpenAI's names, which clients send by default, those that sound alike here. */
  readonly alike: Readonly<Record<string, string>>;
  readonly usual: string;
};

/** Voices of the realtime protocol alone. */
const REALTIME_VOICES: ReadonlySet<string> = new Set(['ballad', 'verse', 'marin', 'cedar']);

const TTS_1: Voices = {
  has: (voice) => !REALTIME_VOICES.has(voice),
  alike: {},
  usual: USUAL_VOICE,
};

const KOKORO: Voices = {
  // A language, the sex of the speaker, and a name: `af_heart`. Several may be mixed with `+`.
  has: (voice) => /^[a-z][fm]_[a-z]/.test(voice),
  alike: {
    alloy: 'af_alloy',
    echo: 'am_echo',
    fable: 'bm_fable',
    nova: 'af_nova',
    onyx: 'am_onyx',
  },
  usual: 'af_heart',
};

/** Models that refuse what other speech models know; every other one is asked for what the session names. */
const VOICES: ReadonlyMap<string, Voices> = new Map([
  ['openai/tts-1', TTS_1],
  ['openai/tts-1-hd', TTS_1],
  ['kokoro/kokoro-82m', KOKORO],
]);

/** The voice that a speech model is asked for where a session names this one. */
export function spokenVoice(modelId: string, wanted: string): string {
  const voices = VOICES.get(modelId);
  return voices === undefined || voices.has(wanted)
    ? wanted
    : (voices.alike[wanted] ?? voices.usual);
}
