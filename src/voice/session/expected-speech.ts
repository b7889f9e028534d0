import type { SttEngine } from '../../engines/engine.ts';
import type { ConfigProblem, SessionConfig } from '../protocols/openai-realtime/session-config.ts';

type Expected = Pick<SessionConfig, 'transcriptionLanguage' | 'transcriptionPrompt'>;

/** What a recogniser is told to expect, as its session is set up. */
export const expectedSpeech = ({
  transcriptionLanguage: language,
  transcriptionPrompt: prompt,
}: Expected): Pick<Parameters<SttEngine['open']>[0], 'language' | 'prompt'> => ({
  ...(language !== null && { language }),
  ...(prompt !== null && { prompt }),
});

const PATH = 'session.audio.input.transcription.language';

/** The recognisers of this process know English alone: of another language they would report wrong words. */
export function foreignSpeech(
  transcriber: string,
  { transcriptionLanguage: language }: Expected,
): ConfigProblem | undefined {
  if (language === null || language === 'en') return undefined;
  return { param: PATH, message: `${PATH}: "${transcriber}" hears English only.` };
}
