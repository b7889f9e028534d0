import { route } from '../../http/route/route.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';
import { SpeechRequest } from '../../models/speech/speech-request.ts';
import type { SpeechSynthesis } from '../../models/speech/synthesize-speech.ts';

/** Sells speech for a text, from the cheapest source of the model that makes the format. */
export const speech = route<{ speech: SpeechSynthesis }>()({
  method: 'POST',
  path: '/v1/audio/speech',
  credential: 'agent',
  summary: 'Buy speech, metered by characters',
  envelope: 'openai',
  rateLimit: 'gateway',
  providerKey: 'optional',
  idempotent: true,
  body: SpeechRequest,

  handle: (context) =>
    context.services.speech.speak({ buyer: readBuyer(context), body: context.body }),
});
