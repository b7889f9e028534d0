import { begun, delta, messageEvent } from '../test/support/message-events.ts';
import { eventsOf } from '../test/support/responses-upstream.ts';
import { DONE, textEvent, usageEvent } from '../test/support/stream-upstream.ts';

/** What an upstream of the dialects bench answers: the same text and the same usage in each dialect. */
export type Dialect = 'chat' | 'responses' | 'messages';

const TEXT = 'x'.repeat(560);
const INPUT_TOKENS = 64;
const WORD = 'word ';

const chatUsage = (written: number) => ({
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: written,
  total_tokens: INPUT_TOKENS + written,
});

const responseUsage = (written: number) => ({
  input_tokens: INPUT_TOKENS,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: written,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: INPUT_TOKENS + written,
});

/** An answer of 140 tokens that comes whole. */
export function wholeOf(dialect: Dialect): string {
  const written = 140;
  if (dialect === 'responses') {
    const answered = { items: [{ say: [TEXT] }], usage: responseUsage(written) };
    const [, last] = eventsOf(answered, { model: 'bench' }, 1).at(-1) as [string, object];
    return JSON.stringify((last as { response: object }).response);
  }
  if (dialect === 'messages') {
    return JSON.stringify({
      ...begun,
      type: 'message',
      content: [{ type: 'text', text: TEXT }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: INPUT_TOKENS, output_tokens: written },
    });
  }
  return JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_735_689_600,
    model: 'bench',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: TEXT, refusal: null },
        finish_reason: 'stop',
        logprobs: null,
      },
    ],
    usage: { ...chatUsage(written), prompt_tokens_details: { cached_tokens: 0 } },
  });
}

/** A stream of so many words, by what is written at a time: a word each, its head with the first and its end by itself. */
export function streamOf(dialect: Dialect, words: number): readonly Buffer[] {
  const [head, word, end] = PARTS[dialect](words);
  const others = Array.from({ length: words - 1 }, () => word);
  return [head + word, ...others, end].map((piece) => Buffer.from(piece));
}

type Parts = readonly [head: string, word: string, end: string];

const PARTS: Readonly<Record<Dialect, (words: number) => Parts>> = {
  chat: (words) => ['', textEvent(WORD), usageEvent(chatUsage(words)) + DONE],
  messages: (words) => [
    messageEvent('message_start', {
      message: { ...begun, usage: { input_tokens: INPUT_TOKENS, output_tokens: 1 } },
    }) +
      messageEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    delta(WORD),
    messageEvent('content_block_stop', { index: 0 }) +
      messageEvent('message_delta', {
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: words },
      }) +
      messageEvent('message_stop'),
  ],
  responses(words) {
    const said = Array.from({ length: words }, () => WORD);
    const answered = { items: [{ say: said }], usage: responseUsage(words) };
    const events = eventsOf(answered, { model: 'bench' }, 1).map(
      ([type, fields], at) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: at, ...fields })}\n\n`,
    );
    const first = events.findIndex((event) => event.includes('output_text.delta'));
    const end = events.slice(first + words).join('');
    return [events.slice(0, first).join(''), events[first] ?? '', end];
  },
};
