import type { AnswerRequest } from './answer-request.ts';
import { type ConversationItem, writtenMessage } from './conversation.ts';
import type { SessionConfig } from './session-config.ts';
import type { Llm, LlmReply } from './voice-pipeline.ts';

/** Id of the single item in the context of a scripted answer. */
const SCRIPT = 'script';

/** Returns a request for an answer that says exactly `text`, with `labels` as its metadata. */
export const scriptedAnswer = (
  config: SessionConfig,
  text: string,
  labels: AnswerRequest['metadata'] = {},
): AnswerRequest => ({
  config,
  metadata: labels,
  isInConversation: true,
  context: [writtenMessage(SCRIPT, 'assistant', text)],
});

const scriptOf = (items: readonly ConversationItem[]): string | undefined => {
  const [item] = items;
  if (items.length !== 1 || item?.id !== SCRIPT || item.type !== 'message') return undefined;
  const [part] = item.content;
  return part?.type === 'text' ? part.text : undefined;
};

/**
 * Returns an LLM that speaks scripted answers word for word, and `prompt()` (when given) to a caller who has fallen silent. An
 * empty script says nothing; answers without a script come from `llm`.
 */
export const createScriptedLlm = (llm: Llm, prompt?: () => string): Llm => ({
  reply(request) {
    const isPrompt = request.isPrompt && prompt !== undefined;
    const text = isPrompt ? prompt() : scriptOf(request.items);
    return text === undefined ? llm.reply(request) : scriptedReply(text);
  },
  speculate: (request) => llm.speculate?.(request),
  forgetSpeculation: () => llm.forgetSpeculation?.(),
});

function scriptedReply(text: string): LlmReply {
  let isOver = false;
  return {
    async next() {
      if (isOver) return undefined;
      isOver = true;
      return { kind: 'text', text };
    },
    tokens: { input: 0, cached: 0, output: 0 },
    cut: undefined,
  };
}
