import { DEFAULT_CONFIG, type SessionConfig } from '../realtime/session-config.ts';
import { type CascadePlan, localEngineOf } from './plan-cascade.ts';

/** The voice that every speech model of the dialect has. */
const USUAL_VOICE = 'alloy';

/** A session that names no voice begins with one of the local engine's, which nobody else has. */
export const fittingVoice = ({ tts }: CascadePlan, config: SessionConfig): SessionConfig =>
  localEngineOf(tts) === undefined && config.voice === DEFAULT_CONFIG.voice
    ? { ...config, voice: USUAL_VOICE }
    : config;

/** Voices of the realtime protocol, one of which its clients name by default, that these models refuse. */
const REALTIME_VOICES: ReadonlySet<string> = new Set(['ballad', 'verse', 'marin', 'cedar']);
const LACKING: ReadonlySet<string> = new Set(['openai/tts-1', 'openai/tts-1-hd']);

/** The voice that a speech model is asked for where a session names this one. */
export const spokenVoice = (modelId: string, wanted: string): string =>
  LACKING.has(modelId) && REALTIME_VOICES.has(wanted) ? USUAL_VOICE : wanted;
