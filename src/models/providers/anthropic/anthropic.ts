import { type Clock, nowSeconds } from '../../../kernel/clock.ts';
import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { isLongJson } from '../../../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import { ChatWriter } from '../../dialects/chat-writer.ts';
import { MessageReader } from '../../dialects/message-reader.ts';
import { WrittenStream } from '../../dialects/written-stream.ts';
import type { ChatCall, ChatCompletion, ChatRail } from '../chat-rail.ts';
import { writeSentJson } from '../fit/write-sent.ts';
import type { CollectedAnswer } from '../openai/collect-answer.ts';
import { wantsUsage } from '../openai/openai.ts';
import { readNote } from '../openai/read-note.ts';
import { renameModel } from '../openai/rename-model.ts';
import { begun, openedStream } from '../opened-stream.ts';
import { failed, type Outcome } from '../outcome.ts';
import { createUpstreamPool, type Upstream, type UpstreamLimits } from '../upstream-pool.ts';
import { placeBreakpoints } from './place-breakpoints.ts';
import { createMessagesRail } from './relay-messages.ts';
import { translateAnswer, translateError } from './translate-answer.ts';
import { translateRequest } from './translate-request.ts';
import { unfitOutcome } from './unfit-request.ts';

/** Version of the Messages API that this folder's translations were written for. */
const PROTOCOL_VERSION = '2023-06-01';

/**
 * Creates the rail of an upstream that speaks the Messages dialect. Chat requests and their answers are translated; Messages
 * requests are relayed.
 */
export function createAnthropicRail(deps: {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits> | undefined;
}): ChatRail & AsyncDisposable {
  const { clock } = deps;
  const pool = createUpstreamPool({
    ...deps,
    path: '/messages',
    credential: (apiKey) => ({ 'x-api-key': apiKey }),
    headers: { 'anthropic-version': PROTOCOL_VERSION },
  });
  const sent = (
    { body, breakpoints, efforts, model, paymentMethod, sampling }: ChatCall,
    stream: boolean,
  ) => ({
    body: writeSentJson(
      body,
      placeBreakpoints(
        translateRequest({ ...body, model, stream }, { efforts, sampling }),
        breakpoints,
      ),
    ),
    paymentMethod,
  });
  return {
    messages: createMessagesRail(pool),
    chatMembers: ['user'],
    complete: (call, signal) =>
      inItsWords(() =>
        pool.whole(
          () => sent(call, false),
          signal,
          (answer) => completionOf(answer, call, nowSeconds(clock)),
        ),
      ),
    stream: (call, signal) =>
      inItsWords(() =>
        pool.opened(
          () => sent(call, true),
          signal,
          (answer) => {
            const { servedAs } = call;
            const usage = wantsUsage(call);
            const options = { createdSec: nowSeconds(clock), servedAs, wantsUsage: usage };
            return openedStream(answer, async () => {
              const source = await begun(new MessageReader(answer));
              return new WrittenStream(source, new ChatWriter(options));
            });
          },
        ),
      ),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

/** Answers refusals of the upstream, and requests that its dialect cannot express, in the caller's dialect. */
async function inItsWords<T>(ask: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    const outcome = await ask();
    if (outcome.kind !== 'declined') return outcome;
    const body = toBytes(translateError(Buffer.from(outcome.body), outcome.status));
    return { ...outcome, body, contentType: 'application/json' };
  } catch (error) {
    return unfitOutcome(error);
  }
}

async function completionOf(
  { body, status }: CollectedAnswer,
  { servedAs }: ChatCall,
  createdSec: number,
): Promise<Outcome<ChatCompletion>> {
  const message = await parseJsonInTurns(body, JSON_LIMITS.upstream).catch(() => undefined);
  const translated = translateAnswer(message, createdSec);
  if (translated === undefined) return failed('broken', 'not a completion', status);
  const { completion, usage, answerChars } = translated;
  const note = readNote(completion);
  if (isLongJson(body)) await turnForLongWork();
  const named = renameModel(toBytes(completion), servedAs);
  const answer = { body: named, json: completion, contentType: 'application/json' };
  return { kind: 'completed', status, ...answer, usage, answerChars, note: () => note };
}

const toBytes = (json: object): Buffer => Buffer.from(JSON.stringify(json));
