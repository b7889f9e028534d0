import type { Clock } from '../../../kernel/clock.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { EmbeddingCall, EmbeddingList, EmbeddingRail } from '../embedding-rail.ts';
import { countInputs } from '../embedding-rail.ts';
import { openPool } from '../open-pool.ts';
import { failed, type Outcome } from '../outcome.ts';
import { contentTypeOf, type Upstream, type UpstreamLimits } from '../upstream-pool.ts';
import type { CollectedAnswer } from './collect-answer.ts';
import { bearer } from './openai.ts';
import { readEmbeddings } from './read-embeddings.ts';

const EMBEDDING_LIMITS = {
  responseBytes: MODEL_LIMITS.embedding.answerBytes,
  inFlight: MODEL_LIMITS.embedding.inFlight,
};

/** Creates the rail for embeddings of an upstream in the OpenAI dialect, with its own bounded pool of connections. */
export function createOpenAiEmbeddingRail(deps: {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits>;
}): EmbeddingRail & AsyncDisposable {
  const limits = { ...EMBEDDING_LIMITS, ...deps.limits };
  const pool = openPool({ ...deps, limits, path: '/embeddings', credential: bearer });
  return {
    misfit: () => undefined,
    embed: (call, signal) =>
      pool.whole(
        () => ({
          body: JSON.stringify({ ...call.body, model: call.model }),
          paymentMethod: call.paymentMethod,
        }),
        signal,
        (answer) => outcomeOf(answer, call),
      ),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

async function outcomeOf(
  answer: CollectedAnswer,
  call: EmbeddingCall,
): Promise<Outcome<EmbeddingList>> {
  const { status, body } = answer;
  const { input, encoding_format: encoding } = call.body;
  const { servedAs } = call;
  const wanted = { encoding: encoding ?? 'float', count: countInputs(input), servedAs } as const;
  const read = await readEmbeddings(body, wanted);
  if (read === undefined) return failed('broken', 'not a list of embeddings', status);
  return { kind: 'completed', status, contentType: contentTypeOf(answer), ...read };
}
