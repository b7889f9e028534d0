import type { Clock } from '../../../kernel/clock.ts';
import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { RESPONSES_LIMITS } from '../../responses/limits.ts';
import { withFittingCallIds } from '../fit/item-call-ids.ts';
import { writeSentJson } from '../fit/write-sent.ts';
import { openPool } from '../open-pool.ts';
import type { CollectedAnswer } from '../openai/collect-answer.ts';
import { bearer } from '../openai/openai.ts';
import { begun, openedStream } from '../opened-stream.ts';
import { failed, type Outcome } from '../outcome.ts';
import { outcomeOf, ReportedError } from '../reported-error.ts';
import type { Upstream, UpstreamLimits } from '../upstream-pool.ts';
import { RelayedResponse } from './relayed-response.ts';
import { responseNote } from './response-note.ts';
import { readResponseUsage } from './response-usage.ts';
import type { ResponsesCall, ResponsesRail, WholeResponse } from './responses-rail.ts';

/** Creates the rail of an upstream with the Responses API. Its answers are relayed under ids of this server. */
export function createResponsesRail(deps: {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits> | undefined;
}): ResponsesRail & AsyncDisposable {
  const { queueBytes } = RESPONSES_LIMITS.answer;
  const limits = { queueBytes, ...deps.limits };
  const pool = openPool({ ...deps, limits, path: '/responses', credential: bearer });
  const sent = ({ body, paymentMethod }: ResponsesCall) => ({
    body: writeSentJson(body, withFittingCallIds(body)),
    paymentMethod,
  });
  return {
    respond: (call, signal) =>
      pool.whole(
        () => sent(call),
        signal,
        (answer) => wholeOf(answer, call),
      ),
    stream: (call, signal) =>
      pool.opened(
        () => sent(call),
        signal,
        (answer) => openedStream(answer, () => begun(new RelayedResponse(answer, call.dress))),
      ),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

async function wholeOf(
  { body, status }: CollectedAnswer,
  { dress }: ResponsesCall,
): Promise<Outcome<WholeResponse>> {
  const response = await parseJsonInTurns(body, JSON_LIMITS.upstream).catch(() => undefined);
  if (!isObject(response) || !Array.isArray(response.output)) {
    return failed('broken', 'not a response', status);
  }
  if (response.status === 'failed') return outcomeOf(new ReportedError(response.error));
  const usage = readResponseUsage(response.usage);
  const answerChars = usage === null ? lengthOf(response.output) : 0;
  const note = responseNote(response);
  const reported = { usage, answerChars, note: () => note };
  dress(response);
  return { kind: 'completed', status, response, ...reported };
}

/** Returns the number of characters that the model wrote, by the texts of the output items. */
function lengthOf(output: readonly unknown[]): number {
  let chars = 0;
  for (const item of output) {
    if (!isObject(item)) continue;
    chars += textLength(item.arguments) + textLength(item.input);
    for (const list of [item.content, item.summary]) {
      if (!Array.isArray(list)) continue;
      for (const part of list as Json[]) {
        if (isObject(part)) chars += textLength(part.text) + textLength(part.refusal);
      }
    }
  }
  return chars;
}

const textLength = (text: unknown): number => (typeof text === 'string' ? text.length : 0);
