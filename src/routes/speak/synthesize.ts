import { z } from 'zod';
import { route } from '../../http/route/route.ts';
import { readBuyer } from '../../models/purchase/buyer.ts';
import { SpeechRequest } from '../../models/speech/speech-request.ts';
import {
  FLUX_RATES,
  FluxQuery,
  planSound,
  type SoundPlan,
  SpeakQuery,
} from '../../protocols/deepgram/speak/speak-query.ts';
import type { SpeakTexts } from '../../protocols/deepgram/speak/speak-texts.ts';

const Body = z.object({ text: SpeechRequest.shape.input });

type Door<Q> = {
  readonly path: `/${string}`;
  readonly summary: string;
  readonly query: Q;
  /** Returns the plan of the audio to make. Throws when the query asks for unsupported audio. */
  readonly plan: (query: SpeakQuery) => SoundPlan;
};

const textRoute = <Q extends z.ZodType<SpeakQuery>>({ path, plan, query, summary }: Door<Q>) =>
  route<{ speakTexts: SpeakTexts }>()({
    method: 'POST',
    path,
    credential: 'agent',
    summary,
    envelope: 'deepgram',
    acceptsTokenScheme: true,
    admitsClientSecrets: 'deepgram',
    rateLimit: 'gateway',
    providerKey: 'optional',
    idempotent: true,
    query,
    body: Body,

    handle: (context) =>
      context.services.speakTexts.speak({
        buyer: readBuyer(context),
        requestId: context.requestId,
        query: context.query,
        plan: plan(context.query),
        text: context.body.text,
      }),
  });

/** Sells speech for a text, in the protocol of Deepgram's clients. */
export const speakText = textRoute({
  path: '/v1/speak',
  summary: 'Buy speech, for clients of Deepgram',
  query: SpeakQuery,
  plan: (query) => planSound(query),
});

/** Sells speech with the query of Flux, which must name a model: there is no default. */
export const speakFluxText = textRoute({
  path: '/v2/speak',
  summary: 'Buy speech with the settings of Flux, for clients of Deepgram',
  query: FluxQuery,
  plan: (query) => planSound(query, FLUX_RATES),
});
