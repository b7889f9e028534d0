import type { Usage } from '../../kernel/price.ts';
import type { Attributes, Span } from '../../platform/tracing/span.ts';
import type { Modality, Model, Source } from '../catalogue/catalogue.ts';
import type { AnswerNote, TokenUsage } from '../providers/chat-rail.ts';
import type { Outcome } from '../providers/outcome.ts';
import { ReportedError } from '../providers/reported-error.ts';

/** Facts that all attempts at one request share in their spans. */
export type AttemptFacts = {
  /** Parent span of the attempts. Undefined: the attempts are not traced. */
  readonly span: Span | undefined;
  readonly model: Model;
  readonly agentId: number;
  /** Id of the hold that pays. */
  readonly holdId?: string | undefined;
};

/** Names of operations in spans. OpenTelemetry defines the first two; the others are this server's own. */
const OPERATIONS: Readonly<Record<Modality, string>> = {
  text: 'chat',
  embedding: 'embeddings',
  tts: 'text_to_speech',
  stt: 'transcription',
  realtime: 'realtime',
};

/** Provider names of the GenAI conventions, where they differ from the catalogue's. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  moonshot: 'moonshot_ai',
};

const providerOf = ({ provider }: Source): string => {
  const vendor = provider.replace(/-(realtime|batch)$/, '');
  return PROVIDERS[vendor] ?? vendor;
};

/** Attributes of the GenAI conventions for a request to a model at one source. */
const modelAttributes = (model: Pick<Model, 'id' | 'modality'>, source: Source): Attributes => ({
  'gen_ai.operation.name': OPERATIONS[model.modality],
  'gen_ai.provider.name': providerOf(source),
  'gen_ai.request.model': source.upstreamModel,
  'svc.model': model.id,
  'svc.rail': source.rail,
});

/** Returns the attributes of a live session's span. The model may be a cascade of other models. */
export const sessionAttributes = (
  modality: Modality,
  model: string,
  source: Source,
): Attributes => ({
  'gen_ai.operation.name': OPERATIONS[modality],
  'gen_ai.provider.name': providerOf(source),
  'gen_ai.request.model': source.upstreamModel,
  'svc.model': model,
  'svc.rail': source.rail,
});

/** Begins the span of one request to one upstream. The span ends with the answer. */
export const beginAttempt = (
  { agentId, holdId, model, span }: AttemptFacts,
  source: Source,
  attempt: number,
): Span | undefined =>
  span?.child(`${OPERATIONS[model.modality]} ${source.upstreamModel}`, {
    // The engines in this process are not a remote service.
    ...(source.provider !== 'local' && { kind: 'client' as const }),
    attributes: {
      ...modelAttributes(model, source),
      'svc.agent.id': agentId,
      'svc.hold.id': holdId,
      'svc.attempt': attempt,
    },
  });

/** Ends the span of an attempt without a delivery. */
export function endUndelivered(
  span: Span | undefined,
  outcome: Exclude<Outcome<unknown>, { kind: 'completed' }> | undefined,
): void {
  span?.end(outcome === undefined ? { error: 'bug' } : failureOf(outcome));
}

function failureOf(outcome: Exclude<Outcome<unknown>, { kind: 'completed' }>) {
  const status = 'status' in outcome ? (outcome.status ?? undefined) : undefined;
  const attributes = { 'http.response.status_code': status };
  switch (outcome.kind) {
    case 'failed':
      return { attributes, error: outcome.failure };
    case 'declined':
      return { attributes, error: String(outcome.status) };
    case 'unaffordable':
      return { error: outcome.refusal.reason };
    case 'spent':
      return { error: outcome.refusal.error };
    default:
      return { error: outcome.kind };
  }
}

/** Returns the error class of an answer that broke off after its begin. */
export const breakTypeOf = (cause: unknown): string =>
  (cause instanceof ReportedError ? cause.word : undefined) ?? 'broken';

/** Adds to the span the time until the first chunk, unless the answer came whole. */
export function noteFirstChunk(span: Span | undefined, tookMs: number, isWhole: boolean): void {
  span?.set(
    isWhole
      ? {}
      : { 'gen_ai.request.stream': true, 'gen_ai.response.time_to_first_chunk': tookMs / 1_000 },
  );
}

/** Attributes of usage: tokens as in the GenAI conventions, and the units that are billed. */
export const usageAttributes = (
  usage: Readonly<Record<string, number>>,
  { isEstimated = false, note, tokens = tokensOf(usage) }: UsageFacts = {},
): Attributes => ({
  'gen_ai.usage.input_tokens': tokens?.inputTokens,
  'gen_ai.usage.output_tokens': tokens?.outputTokens,
  'gen_ai.usage.cache_read.input_tokens': tokens?.cachedTokens,
  'gen_ai.usage.cache_creation.input_tokens': tokens?.cacheWriteTokens,
  'gen_ai.response.model': note?.model,
  'gen_ai.response.finish_reasons': note?.finishReasons,
  'svc.usage.estimated': isEstimated ? true : undefined,
  ...Object.fromEntries(
    Object.entries(usage).map(([unit, amount]) => [`svc.usage.${unit}`, amount]),
  ),
});

type UsageFacts = {
  readonly tokens?: TokenUsage | undefined;
  readonly note?: AnswerNote | undefined;
  readonly isEstimated?: boolean | undefined;
};

/** Returns the tokens of a usage. Undefined when the usage counts no tokens. */
function tokensOf(usage: Usage): TokenUsage | undefined {
  const { audio_input_token, audio_output_token, cached_input_token } = usage;
  const { text_input_token, text_output_token } = usage;
  const parts = [text_input_token, cached_input_token, audio_input_token];
  const outputs = [text_output_token, audio_output_token];
  if ([...parts, ...outputs].every((part) => part === undefined)) return undefined;
  const sum = (list: readonly (number | undefined)[]) =>
    list.reduce((total: number, part) => total + (part ?? 0), 0);
  return {
    inputTokens: sum(parts),
    cachedTokens: cached_input_token ?? 0,
    outputTokens: sum(outputs),
  };
}
