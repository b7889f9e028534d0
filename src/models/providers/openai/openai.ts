import type { Clock } from '../../../kernel/clock.ts';
import { isObject } from '../../../kernel/json.ts';
import type { ChatCall, ChatCompletion, ChatRail, ChatStream } from '../chat-rail.ts';
import { CALL_ID_FORMS } from '../fit/call-ids.ts';
import { withFittingIds } from '../fit/chat-call-ids.ts';
import { writeSentJson } from '../fit/write-sent.ts';
import type { OpenedAnswer } from '../open-answer.ts';
import { openPool } from '../open-pool.ts';
import { begun, openedStream } from '../opened-stream.ts';
import { failed, type Outcome } from '../outcome.ts';
import { contentTypeOf, type Upstream, type UpstreamLimits } from '../upstream-pool.ts';
import { RelayedChat } from './chat-stream.ts';
import type { CollectedAnswer } from './collect-answer.ts';
import { readCompletion } from './read-completion.ts';
import { renameModel } from './rename-model.ts';

/** Header that carries a credential in the OpenAI dialect. */
export const bearer = (apiKey: string): Record<string, string> => ({
  authorization: `Bearer ${apiKey}`,
});

/** Creates the rail for chat of an upstream in the OpenAI dialect. Its answers are relayed unchanged. */
export function createOpenAiRail(deps: {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly limits?: Partial<UpstreamLimits> | undefined;
}): ChatRail & AsyncDisposable {
  const pool = openPool({ ...deps, path: '/chat/completions', credential: bearer });
  const spelled = spellingOf(deps.upstream);
  return {
    chatMembers: deps.upstream.chatMembers,
    thoughts: deps.upstream.thoughts,
    signsCalls: deps.upstream.signsCalls,
    strictOrder: deps.upstream.strictOrder,
    complete: (call, signal) =>
      pool.whole(
        () => ({
          body: writeSentJson(call.body, { ...spelled(call), model: call.model }),
          paymentMethod: call.paymentMethod,
        }),
        signal,
        (answer) => completionOf(answer, call),
      ),
    stream: (call, signal) =>
      pool.opened(
        () => ({
          body: writeSentJson(call.body, streamedBody(spelled(call), call.model)),
          paymentMethod: call.paymentMethod,
        }),
        signal,
        (answer) => streamOf(answer, call),
      ),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

/**
 * Returns a function that rewrites a request for the upstream: its form of call ids, and its name of the token limit. With the
 * caller's own key the token limit is left as it is.
 */
const spellingOf =
  ({ callIds, capMember }: Upstream) =>
  ({ body: given, paymentMethod }: ChatCall): ChatCall['body'] => {
    const body = callIds === undefined ? given : withFittingIds(given, CALL_ID_FORMS[callIds]);
    const { max_tokens: cap, ...rest } = body;
    const isCapped = cap != null && rest.max_completion_tokens == null;
    if (capMember === undefined || !isCapped || paymentMethod?.ownKey !== undefined) return body;
    return { ...rest, [capMember]: cap };
  };

/** Returns true when the caller requested the separate event with the usage. */
export const wantsUsage = ({ body: { stream_options: options } }: ChatCall): boolean =>
  isObject(options) && options.include_usage === true;

/** Returns the body of a streamed request. It always requests usage, because the charge is based on it. */
const streamedBody = (body: ChatCall['body'], model: string) => ({
  ...body,
  model,
  stream: true,
  stream_options: {
    ...(isObject(body.stream_options) ? body.stream_options : {}),
    include_usage: true,
  },
});

async function completionOf(
  answer: CollectedAnswer,
  { servedAs }: ChatCall,
): Promise<Outcome<ChatCompletion>> {
  const { status } = answer;
  const completion = await readCompletion(answer.body);
  if (completion === undefined) return failed('broken', 'not a completion', status);
  const body = renameModel(answer.body, servedAs);
  return { kind: 'completed', status, body, contentType: contentTypeOf(answer), ...completion };
}

const streamOf = (
  answer: OpenedAnswer,
  call: ChatCall,
): Promise<Outcome<{ readonly stream: ChatStream }>> =>
  openedStream(answer, () =>
    begun(new RelayedChat(answer, { ...call, wantsUsage: wantsUsage(call) })),
  );
