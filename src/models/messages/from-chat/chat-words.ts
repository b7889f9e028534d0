import type { Json } from '../../../kernel/json.ts';
import { textMember } from '../../providers/anthropic/read-json.ts';

/** The id of a message whose upstream gave its completion, or its response, this one; the spare one where it gave none. */
export const messageIdOf = (completionId: unknown, spare: string): string =>
  `msg_${typeof completionId === 'string' && completionId !== '' ? completionId.replace(/^(?:chatcmpl-?|resp_)/, '') : spare}`;

/** The id of a tool call. Upstreams that give none get one that is the same however often the answer is read. */
export const toolIdOf = (id: unknown, messageId: string, index: number): string =>
  typeof id === 'string' && id !== '' ? id : `toolu_${messageId.slice('msg_'.length)}_${index}`;

/** Reads the thoughts of a model, under either name that upstreams use. OpenAI's own dialect has none. */
export const readThoughts = (said: Json): string =>
  textMember(said, 'reasoning_content') || textMember(said, 'reasoning');
