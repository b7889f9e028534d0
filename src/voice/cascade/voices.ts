import type { Model } from '../../models/catalogue/catalogue.ts';
import { DEFAULT_CONFIG, type SessionConfig } from '../session/session-config.ts';
import { type CascadePlan, localEngineOf } from './plan-cascade.ts';

/** Name of a voice that every speech model of the dialect has. */
const USUAL_VOICE = 'alloy';

/** Replaces the default voice of the settings when the speech model is not the local engine, which alone has it. */
export const fittingVoice = ({ tts }: CascadePlan, config: SessionConfig): SessionConfig =>
  localEngineOf(tts) === undefined && config.voice === DEFAULT_CONFIG.voice
    ? { ...config, voice: spokenVoice(tts.id, USUAL_VOICE) }
    : config;

/** Voices of a speech model, and the replacements for voices that it does not have. */
type Voices = {
  readonly has: (voice: string) => boolean;
  /** Similar voices of the model for OpenAI's voice names, which clients send by default. */
  readonly alike: Readonly<Record<string, string>>;
  readonly usual: string;
};

/** Voices that exist only in the realtime protocol. */
const REALTIME_VOICES: ReadonlySet<string> = new Set(['ballad', 'verse', 'marin', 'cedar']);

const TTS_1: Voices = {
  has: (voice) => !REALTIME_VOICES.has(voice),
  alike: {},
  usual: USUAL_VOICE,
};

const KOKORO: Voices = {
  // A voice is named by language, sex and name: `af_heart`. Several voices may be mixed with `+`.
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

/** First letters of Kokoro's voice names by language, with a default voice of each language. */
const KOKORO_LANGUAGES: Readonly<
  Record<string, { readonly begins: string; readonly usual: string }>
> = {
  en: { begins: 'ab', usual: 'af_heart' },
  es: { begins: 'e', usual: 'ef_dora' },
  fr: { begins: 'f', usual: 'ff_siwis' },
  hi: { begins: 'h', usual: 'hf_alpha' },
  it: { begins: 'i', usual: 'if_sara' },
  ja: { begins: 'j', usual: 'jf_alpha' },
  pt: { begins: 'p', usual: 'pf_dora' },
  zh: { begins: 'z', usual: 'zf_xiaobei' },
};

/**
 * Returns the settings that make a session hear and speak a language, a tag such as `es-ES`; undefined when the TTS does not
 * speak it. TTS models other than the local ones and Kokoro speak the language of their text.
 */
export function inLanguage(
  tts: Model,
  { voice }: Pick<SessionConfig, 'voice'>,
  tag: string,
): Pick<SessionConfig, 'transcriptionLanguage' | 'voice'> | undefined {
  const language = tag.split('-', 1)[0]?.toLowerCase() ?? '';
  if (language.length !== 2) return undefined;
  const change = { transcriptionLanguage: language, voice };
  if (localEngineOf(tts) !== undefined) return language === 'en' ? change : undefined;
  if (tts.id !== 'kokoro/kokoro-82m') return change;
  const spoken = Object.hasOwn(KOKORO_LANGUAGES, language) ? KOKORO_LANGUAGES[language] : undefined;
  if (spoken === undefined) return undefined;
  const present = spokenVoice(tts.id, voice);
  return spoken.begins.includes(present.charAt(0)) ? change : { ...change, voice: spoken.usual };
}

/** Voices of models that refuse unknown names. Any other model receives the name in the session's settings. */
const VOICES: ReadonlyMap<string, Voices> = new Map([
  ['openai/tts-1', TTS_1],
  ['openai/tts-1-hd', TTS_1],
  ['kokoro/kokoro-82m', KOKORO],
]);

/** Returns the voice to request of a speech model when the session's settings name `wanted`. */
export function spokenVoice(modelId: string, wanted: string): string {
  const voices = VOICES.get(modelId);
  return voices === undefined || voices.has(wanted)
    ? wanted
    : (voices.alike[wanted] ?? voices.usual);
}
