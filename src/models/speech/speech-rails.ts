import { createOpenAiSpeechRail } from '../providers/openai/openai-speech.ts';
import type { SpeechRail } from '../providers/speech-rail.ts';
import { type OpenAiRailDeps, openOpenAiRails, type Rails } from '../routing/open-rails.ts';

/** The rails of all providers that a speech model of the catalogue names. */
export const createSpeechRails = (deps: OpenAiRailDeps<SpeechRail>): Rails<SpeechRail> =>
  openOpenAiRails(deps, createOpenAiSpeechRail);
