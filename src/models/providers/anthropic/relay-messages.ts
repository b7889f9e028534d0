import { isObject } from '../../../kernel/json.ts';
import type { ChatCompletion, ChatStream, MessagesCall, MessagesRail } from '../chat-rail.ts';
import { withFittingBlocks } from '../fit/message-blocks.ts';
import { writeSentJson } from '../fit/write-sent.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import type { CollectedAnswer } from '../openai/collect-answer.ts';
import { renameModel } from '../openai/rename-model.ts';
import { begun, openedStream } from '../opened-stream.ts';
import { failed, type Outcome } from '../outcome.ts';
import { tokenCount } from '../token-count.ts';
import { contentTypeOf, type UpstreamPool } from '../upstream-pool.ts';
import { placeBreakpoints } from './place-breakpoints.ts';
import { jsonOf } from './read-json.ts';
import { readMessage } from './read-message.ts';
import { RelayedMessageStream } from './relayed-message-stream.ts';

/**
 * Creates the rail that relays requests of the Messages dialect to an upstream that speaks it, over the upstream's pool for
 * `/messages`.
 */
export function createMessagesRail(pool: UpstreamPool): MessagesRail {
  const sent = (call: MessagesCall, path?: string) => {
    const { body, breakpoints, headers, model, paymentMethod } = call;
    return {
      body: writeSentJson(
        body,
        placeBreakpoints(withFittingBlocks({ ...body, model }), breakpoints),
      ),
      headers,
      paymentMethod,
      ...(path !== undefined && { path }),
    };
  };
  return {
    complete: (call, signal) =>
      pool.whole(
        () => sent(call),
        signal,
        (answer) => messageOf(answer, call),
      ),
    stream: (call, signal) =>
      pool.opened(
        () => sent(call),
        signal,
        (answer) => streamOf(answer, call),
      ),
    count: (call, signal) =>
      pool.whole(
        () => sent(call, '/messages/count_tokens'),
        signal,
        ({ body, status }) => {
          const counted = jsonOf(body);
          const inputTokens = isObject(counted) ? tokenCount(counted.input_tokens) : undefined;
          if (inputTokens === undefined) return failed('broken', 'not a count', status);
          return { kind: 'completed', status, inputTokens };
        },
      ),
  };
}

async function messageOf(
  answer: CollectedAnswer,
  { servedAs }: MessagesCall,
): Promise<Outcome<ChatCompletion>> {
  const { status } = answer;
  const message = await readMessage(answer.body);
  if (message === undefined) return failed('broken', 'not a message', status);
  const body = renameModel(answer.body, servedAs);
  return { kind: 'completed', status, body, contentType: contentTypeOf(answer), ...message };
}

const streamOf = (
  answer: OpenedAnswer,
  { servedAs }: MessagesCall,
): Promise<Outcome<{ readonly stream: ChatStream }>> =>
  openedStream(answer, () => begun(new RelayedMessageStream(answer, servedAs)));
