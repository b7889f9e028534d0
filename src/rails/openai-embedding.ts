import { Pool } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';
import { type Answer, collectAnswer } from './collect-answer.ts';
import type { EmbeddingCall, EmbeddingList, EmbeddingRail } from './embedding-rail.ts';
import { countInputs } from './embedding-rail.ts';
import type { OpenAiRailLimits, OpenAiUpstream } from './openai.ts';
import { contentTypeOf, DEFAULT_LIMITS, failureOf, TOO_BUSY, unservedOf } from './openai.ts';
import { failed, type Outcome } from './outcome.ts';
import { readEmbeddings } from './read-embeddings.ts';

const EMBEDDING_LIMITS: OpenAiRailLimits = {
  ...DEFAULT_LIMITS,
  responseBytes: LIMITS.embeddingAnswerBytes,
  inFlight: LIMITS.embeddingsInFlight,
};

/** Embeddings of an upstream that speaks the OpenAI dialect, over a bounded pool of its own. */
export function createOpenAiEmbeddingRail(deps: {
  readonly upstream: OpenAiUpstream;
  readonly clock: Clock;
  readonly limits?: Partial<OpenAiRailLimits>;
}): EmbeddingRail & AsyncDisposable {
  const { clock } = deps;
  const { baseUrl, apiKey } = deps.upstream;
  const limits = { ...EMBEDDING_LIMITS, ...deps.limits };
  const base = new URL(baseUrl);
  const target = {
    path: `${base.pathname.replace(/\/+$/, '')}/embeddings${base.search}`,
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json' },
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
  } as const;
  const pool = new Pool(base.origin, {
    connections: limits.connections,
    headersTimeout: limits.firstByteMs,
    bodyTimeout: limits.idleMs,
    connect: { timeout: limits.connectMs },
  });
  let inFlight = 0;

  async function embed(call: EmbeddingCall, signal: AbortSignal): Promise<Outcome<EmbeddingList>> {
    if (inFlight >= limits.inFlight) return TOO_BUSY;
    const body = writeRequest(call);
    if (body === undefined) return { kind: 'unfit', detail: 'The request is nested too deeply.' };
    inFlight++;
    try {
      const { responseBytes: maxBytes, totalMs } = limits;
      const bounds = { maxBytes, totalMs, clock, signal };
      return await outcomeOf(await collectAnswer(pool, { ...target, body }, bounds), call);
    } catch (error) {
      return signal.aborted ? { kind: 'aborted' } : failureOf(error);
    } finally {
      inFlight--;
    }
  }

  return { misfit: () => undefined, embed, [Symbol.asyncDispose]: () => pool.destroy() };
}

/** What could be read may still be too deep to be written, which is no failure of the upstream. */
function writeRequest({ body, model }: EmbeddingCall): string | undefined {
  try {
    return JSON.stringify({ ...body, model });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

async function outcomeOf(answer: Answer, call: EmbeddingCall): Promise<Outcome<EmbeddingList>> {
  const unserved = unservedOf(answer);
  if (unserved !== undefined) return unserved;
  const { status, body } = answer;
  const { input, encoding_format: encoding } = call.body;
  const wanted = { encoding: encoding ?? 'float', count: countInputs(input) } as const;
  const read = await readEmbeddings(body, wanted);
  if (read === undefined) return failed('broken', 'not a list of embeddings', status);
  return { kind: 'completed', status, contentType: contentTypeOf(answer), ...read };
}
