import { parseAmountRaw, parseUsd, parseUsdCents } from '../kernel/amount.ts';
import { BRAND } from '../kernel/ids.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { normalTag } from '../spend/attribution/tag.ts';
import { orchestratorErrors } from './errors.ts';
import type { Provider } from './platform.ts';
import {
  objectAt,
  requireCallId,
  requireCost,
  secondsOf,
  textAt,
  timeMs,
  urlAt,
} from './report-fields.ts';

/** Report of a platform about a call that has ended. */
export type Report = {
  readonly callId: string;
  readonly costRaw: bigint;
  /** Order of the platform's reports of one call. */
  readonly rank: number;
  readonly saidAtMs: number | null;
  readonly durationSeconds: number | null;
  readonly taskId: string | null;
  readonly customerId: string | null;
  readonly summary: string | undefined;
  readonly transcript: string | undefined;
  readonly recordingUrl: string | undefined;
  readonly analysis: Analysis | undefined;
};

export type Analysis = {
  readonly success: boolean;
  readonly structuredData: Json;
  readonly sentiment: string | null;
};

/** Reads the body of a call-end. Undefined for an event that is none. Throws the refusal of a report without id or cost. */
export const readReport = (provider: Provider, body: Json): Report | undefined =>
  READERS[provider](body);

const TASK = `${BRAND.ownedBy}_task_id`;
const CUSTOMER = `${BRAND.ownedBy}_customer_id`;

function vapi(body: Json): Report | undefined {
  const message = objectAt(body, 'message');
  if (message.type !== 'end-of-call-report') return undefined;
  const call = objectAt(message, 'call');
  const costed = typeof message.cost === 'undefined' && 'cost' in call ? call : message;
  const artifact = objectAt(message, 'artifact');
  const analysis = objectAt(message, 'analysis');
  return {
    callId: requireCallId(call, 'id', 'message.call.id'),
    costRaw: requireCost(costed, 'cost', 'message.cost', parseUsd),
    rank: 1,
    saidAtMs: timeMs(message.timestamp),
    durationSeconds: secondsBetween(message.startedAt, message.endedAt),
    ...tagsIn(
      objectAt(call, 'assistantOverrides', 'metadata'),
      objectAt(call, 'assistant', 'metadata'),
      objectAt(message, 'assistant', 'metadata'),
    ),
    summary: textAt(analysis, 'summary') ?? textAt(message, 'summary'),
    transcript: textAt(artifact, 'transcript') ?? textAt(message, 'transcript'),
    recordingUrl: urlAt(artifact, 'recordingUrl') ?? urlAt(message, 'recordingUrl'),
    analysis: analysisOf(analysis, 'successEvaluation', 'structuredData', 'sentiment'),
  };
}

/** Ranks of Retell's events: the analysis follows the end, and its cost includes the analysis. */
const RETELL_RANK = new Map<unknown, number>([
  ['call_ended', 1],
  ['call_analyzed', 2],
]);

function retell(body: Json): Report | undefined {
  const rank = RETELL_RANK.get(body.event);
  if (rank === undefined) return undefined;
  const call = objectAt(body, 'call');
  const cost = objectAt(call, 'call_cost');
  const analysis = objectAt(call, 'call_analysis');
  return {
    callId: requireCallId(call, 'call_id', 'call.call_id'),
    costRaw: requireCost(cost, 'combined_cost', 'call.call_cost.combined_cost', parseUsdCents),
    rank,
    saidAtMs: null,
    durationSeconds: secondsOf(cost.total_duration_seconds) ?? secondsOfMs(call.duration_ms),
    ...tagsIn(objectAt(call, 'metadata')),
    summary: textAt(analysis, 'call_summary'),
    transcript: textAt(call, 'transcript'),
    recordingUrl: urlAt(call, 'recording_url'),
    analysis: analysisOf(analysis, 'call_successful', 'custom_analysis_data', 'user_sentiment'),
  };
}

function bland(body: Json): Report | undefined {
  // Bland posts the steps of a live call to the same URL. Those have neither a price nor an end.
  if (!('price' in body) && !('completed' in body) && !('call_length' in body)) return undefined;
  const minutes = body.call_length;
  return {
    callId: requireCallId(body, 'call_id'),
    costRaw: requireCost(body, 'price', 'price', parseUsd),
    rank: 1,
    saidAtMs: null,
    durationSeconds: typeof minutes === 'number' ? secondsOf(minutes * 60) : null,
    ...tagsIn(objectAt(body, 'metadata'), objectAt(body, 'variables', 'metadata')),
    summary: textAt(body, 'summary'),
    transcript: textAt(body, 'concatenated_transcript'),
    recordingUrl: urlAt(body, 'recording_url'),
    analysis: analysisOf(objectAt(body, 'analysis'), 'success', undefined, 'sentiment'),
  };
}

function selfHosted(body: Json): Report | undefined {
  const callId = requireCallId(body, 'external_call_id');
  const [inUsd, inMicros] = [has(body, 'cost_usd'), has(body, 'cost_micro_usdc')];
  if (inUsd === inMicros) {
    throw orchestratorErrors.invalidCost(
      'Send either cost_usd or cost_micro_usdc, one of the two.',
    );
  }
  return {
    callId,
    costRaw: inUsd
      ? requireCost(body, 'cost_usd', 'cost_usd', parseUsd)
      : requireCost(body, 'cost_micro_usdc', 'cost_micro_usdc', parseMicros),
    rank: 1,
    saidAtMs: null,
    durationSeconds: secondsOf(body.duration_seconds),
    ...tagsIn(body),
    summary: undefined,
    transcript: undefined,
    recordingUrl: undefined,
    analysis: undefined,
  };
}

const READERS: Readonly<Record<Provider, (body: Json) => Report | undefined>> = {
  vapi,
  retell,
  bland,
  pipecat: selfHosted,
  livekit: selfHosted,
};

/** Reads whole micro USDC. Some languages write a whole number with a point. */
const parseMicros = (digits: string): bigint | undefined =>
  parseAmountRaw(digits.replace(/\.0+$/, ''));

const has = (body: Json, name: string): boolean => body[name] !== undefined && body[name] !== null;

/** Returns task and customer from the first of some places that has them. An id that no policy could name is left out. */
function tagsIn(...places: readonly Json[]): Pick<Report, 'taskId' | 'customerId'> {
  const tag = (name: string): string | null => {
    for (const place of places) {
      const value = place[name];
      const text = typeof value === 'number' ? String(value) : value;
      const found = typeof text === 'string' ? normalTag(text) : undefined;
      if (found !== undefined) return found;
    }
    return null;
  };
  return { taskId: tag(TASK), customerId: tag(CUSTOMER) };
}

/** Returns an evaluation of a call. Undefined when the platform has made none. */
function analysisOf(
  analysis: Json,
  success: string,
  data: string | undefined,
  sentiment: string,
): Analysis | undefined {
  if (Object.keys(analysis).length === 0) return undefined;
  const structured = data === undefined ? analysis : analysis[data];
  return {
    success: isSuccess(analysis[success]),
    structuredData: isObject(structured) && !Array.isArray(structured) ? structured : {},
    sentiment: textAt(analysis, sentiment) ?? null,
  };
}

/** Evaluations are yes or no, in a rubric of the developer's choice also words. */
const isSuccess = (value: unknown): boolean =>
  value === true || (typeof value === 'string' && /^(true|pass|success|yes)/i.test(value.trim()));

function secondsBetween(from: unknown, to: unknown): number | null {
  if (typeof from !== 'string' || typeof to !== 'string') return null;
  return secondsOf((Date.parse(to) - Date.parse(from)) / 1_000);
}

const secondsOfMs = (ms: unknown): number | null =>
  typeof ms === 'number' ? secondsOf(ms / 1_000) : null;
