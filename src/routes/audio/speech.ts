import { readSpender } from '../../gateway/read-spender.ts';
import { SpeechRequest } from '../../gateway/speech-request.ts';
import type { SpeechSynthesis } from '../../gateway/synthesize-speech.ts';
import { route } from '../../http/route.ts';

/** A text as sound, bought from the cheapest source of the model that makes the format. */
export const speech = route<{ speech: SpeechSynthesis }>()({
  method: 'POST',
  path: '/v1/audio/speech',
  credential: 'agent',
  summary: 'Buy speech, metered by characters',
  envelope: 'openai',
  rateLimit: 'gateway',
  idempotent: true,
  body: SpeechRequest,

  handle({ body, caller, headers, services, signal, workId }) {
    return services.speech.speak({ spender: readSpender(caller, headers), body, workId, signal });
  },
});
