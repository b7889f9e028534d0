import { z } from 'zod';
import { parseObject } from '../../kernel/json/parse-json.ts';
import { isObject } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { chatCompletions } from '../../routes/chat/completions.ts';
import { MCP_LIMITS } from '../limits.ts';
import { present, tool } from '../tool.ts';
import { costOf } from '../tool-result.ts';

const { promptChars } = MCP_LIMITS;

/** Sends one question to a model. */
export const think = tool({
  name: 'think',
  title: 'Ask a model',
  description:
    'Puts one question to a language model and answers its text. Charged by the token: estimate tells the price.',
  isReadOnly: false,
  input: z.object({
    prompt: z.string().min(1).max(promptChars),
    system: z.string().min(1).max(promptChars).optional(),
    model: z.string().min(1).max(MODEL_LIMITS.idChars).default('local/guide'),
    maxOutputTokens: z.number().int().min(1).max(MODEL_LIMITS.tokens.mostOutput).optional(),
  }),

  async call({ maxOutputTokens, model, prompt, system }, ask) {
    const messages = [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: prompt },
    ];
    const body = present({ model, messages, max_completion_tokens: maxOutputTokens });
    const answer = await ask(chatCompletions, { body });
    const { choices, usage } = parseObject(answer.bytes);
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    const { finish_reason: finishReason, message } = isObject(choice) ? choice : {};
    const text = isObject(message) && typeof message.content === 'string' ? message.content : '';
    const receipt = present({ model, finishReason, usage, ...costOf(answer) });
    return {
      content: [
        { type: 'text', text },
        { type: 'text', text: JSON.stringify(receipt) },
      ],
      structuredContent: { text, ...receipt },
    };
  },
});
