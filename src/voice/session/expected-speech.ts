import type { SttEngine } from '../../engines/engine.ts';
import type { ConfigProblem, SessionConfig } from './session-config.ts';

type Expected = Pick<SessionConfig, 'transcriptionLanguage' | 'transcriptionPrompt'>;

/** Returns the language and the prompt that a session's settings pass to its recogniser. */
export const expectedSpeech = ({
  transcriptionLanguage: language,
  transcriptionPrompt: prompt,
}: Expected): Pick<Parameters<SttEngine['open']>[0], 'language' | 'prompt'> => ({
  ...(language !== null && { language }),
  ...(prompt !== null && { prompt }),
});

/** Returns the problem of a language other than English: the recognisers of this process would report wrong words. */
export function foreignSpeech(
  transcriber: string,
  { transcriptionLanguage: language }: Expected,
): ConfigProblem | undefined {
  if (language === null || language === 'en') return undefined;
  return { setting: 'transcriptionLanguage', message: `"${transcriber}" hears English only.` };
}
