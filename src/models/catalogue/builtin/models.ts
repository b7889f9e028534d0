import type { ModelEntry } from './builtin-model.ts';
import { EMBEDDING_MODELS } from './embedding.ts';
import { LOCAL_MODELS } from './local.ts';
import { REALTIME_MODELS } from './realtime.ts';
import { withRetirement } from './retiring.ts';
import { SPEECH_MODELS } from './speech.ts';
import { TEXT_MODELS } from './text.ts';
import { TRANSCRIPTION_MODELS } from './transcription.ts';

/** Built-in models, in the order in which they are listed. */
export const BUILTIN_MODELS: readonly ModelEntry[] = withRetirement([
  ...LOCAL_MODELS,
  ...TEXT_MODELS,
  ...EMBEDDING_MODELS,
  ...SPEECH_MODELS,
  ...TRANSCRIPTION_MODELS,
  ...REALTIME_MODELS,
]);
