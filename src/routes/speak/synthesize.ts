import { z } from 'zod';
import { SpeakQuery } from '../../deepgram/speak-query.ts';
import type { SpeakTexts } from '../../deepgram/speak-texts.ts';
import { route } from '../../http/route/route.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';
import { SpeechRequest } from '../../models/speech/speech-request.ts';

const Body = z.object({ text: SpeechRequest.shape.input });

/** A text as sound, for Deepgram's clients. */
export const speakText = route<{ speakTexts: SpeakTexts }>()({
  method: 'POST',
  path: '/v1/speak',
  credential: 'agent',
  summary: 'Buy speech, for clients of Deepgram',
  envelope: 'deepgram',
  acceptsTokenScheme: true,
  admitsClientSecrets: 'deepgram',
  rateLimit: 'gateway',
  providerKey: 'optional',
  idempotent: true,
  query: SpeakQuery,
  body: Body,

  handle: (context) =>
    context.services.speakTexts.speak({
      buyer: readBuyer(context),
      requestId: context.requestId,
      query: context.query,
      text: context.body.text,
    }),
});
