import type { Json } from '../../../kernel/json.ts';
import { textMember } from '../../providers/anthropic/read-json.ts';

/** Returns the id of a message, made of the id of its completion or response, or of `spare` when the upstream gave none. */
export const messageIdOf = (completionId: unknown, spare: string): string =>
  `msg_${typeof completionId === 'string' && completionId !== '' ? completionId.replace(/^(?:chatcmpl-?|resp_)/, '') : spare}`;

/** Returns the id of a tool call. A call without an id gets one that depends only on the message and the call's index. */
export const toolIdOf = (id: unknown, messageId: string, index: number): string =>
  typeof id === 'string' && id !== '' ? id : `toolu_${messageId.slice('msg_'.length)}_${index}`;

/** Reads the thoughts of a model, under either name that upstreams use. OpenAI's own dialect has none. */
export const readThoughts = (said: Json): string =>
  textMember(said, 'reasoning_content') || textMember(said, 'reasoning');
