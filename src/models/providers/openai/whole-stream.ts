import { isObject, type Json } from '../../../kernel/json.ts';
import type { ChatCompletion, ChatStream } from '../chat-rail.ts';

/** Words with the white space after them. */
const WORDS = /\S+\s*|\s+/g;

/** Returns a whole answer as the stream that the caller requested, with one word per event. */
export function streamOfWhole(answer: ChatCompletion, request: Json): ChatStream {
  const events = eventsOf(JSON.parse(Buffer.from(answer.body).toString('utf8')) as Json, request);
  let given = 0;
  return {
    async next() {
      return events[given++];
    },
    metered: () => answer,
    stop() {
      given = events.length;
    },
  };
}

function eventsOf(completion: Json, { stream_options: options }: Json): Buffer[] {
  const { id, created, model, usage } = completion;
  // All events have the same beginning, which is serialised once.
  const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
  const wantsUsage = isObject(options) && options.include_usage === true;
  const event = (choices: readonly object[], used: unknown = null) => {
    const more = wantsUsage ? `,"usage":${JSON.stringify(used)}` : '';
    return Buffer.from(`data: ${head},"choices":${JSON.stringify(choices)}${more}}\n\n`);
  };
  const events = choicesOf(completion).flatMap(({ index, message, finish_reason: reason }) => {
    const choice = (delta: object, finish: unknown = null) =>
      event([{ index, delta, logprobs: null, finish_reason: finish }]);
    return [
      choice({ role: 'assistant', content: '', refusal: null }),
      ...(message.content?.match(WORDS) ?? []).map((content) => choice({ content })),
      ...toolDeltas(message.tool_calls).map((tool_calls) => choice({ tool_calls })),
      choice({}, reason),
    ];
  });
  return wantsUsage ? [...events, event([], usage ?? null)] : events;
}

type Choice = {
  readonly index: number;
  readonly message: { readonly content: string | null; readonly tool_calls?: readonly object[] };
  readonly finish_reason: string;
};

const choicesOf = ({ choices }: Json): readonly Choice[] => choices as readonly Choice[];

const toolDeltas = (calls: readonly object[] = []): object[][] =>
  calls.map((call, index) => [{ index, ...call }]);
