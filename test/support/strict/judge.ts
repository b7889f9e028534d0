import { ANTHROPIC_RULES } from './anthropic-rules.ts';
import { GEMINI_RULES } from './gemini-rules.ts';
import { MISTRAL_RULES } from './mistral-rules.ts';
import { OPENAI_CHAT_RULES } from './openai-chat-rules.ts';
import { OPENAI_RESPONSES_RULES } from './openai-responses-rules.ts';
import { objectionOf, type Rule, type Sent } from './rule.ts';

/** Who sells chat completions at an address; the other APIs have one vendor each. */
export type ChatVendor = 'openai' | 'mistral' | 'gemini';

const CHAT_RULES: Readonly<Record<ChatVendor, readonly Rule[]>> = {
  openai: OPENAI_CHAT_RULES,
  mistral: MISTRAL_RULES,
  gemini: GEMINI_RULES,
};

/** The rules of all vendors, by name. */
export const ALL_RULES: Readonly<Record<string, readonly Rule[]>> = {
  ...CHAT_RULES,
  responses: OPENAI_RESPONSES_RULES,
  anthropic: ANTHROPIC_RULES,
};

function rulesFor(path: string, vendor: ChatVendor): readonly Rule[] {
  const [route = ''] = path.split('?');
  if (/\/messages(\/count_tokens)?$/.test(route)) return ANTHROPIC_RULES;
  if (route.endsWith('/responses')) return OPENAI_RESPONSES_RULES;
  return route.endsWith('/chat/completions') ? CHAT_RULES[vendor] : [];
}

/**
 * The sentence with which the vendor refuses a request. Every upstream of the tests that is asked for text asks here before it
 * answers; undefined: the vendor takes it.
 */
export const objectionTo = (
  { headers, path, text }: Pick<Sent, 'headers' | 'path' | 'text'>,
  vendor: ChatVendor = 'openai',
): string | undefined =>
  objectionOf(rulesFor(path, vendor), { path, headers, text, body: JSON.parse(text) });
