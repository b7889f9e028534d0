import type { ChatRequest } from '../../chat/chat-request.ts';
import { CHAT_MEMBERS, type ChatMember } from '../../providers/chat-members.ts';
import { type Sampling, untakenSampling } from '../../providers/sampling.ts';
import { isSet } from '../../providers/unserved-features.ts';
import { asksMorePasses } from '../../routing/unpriced-features.ts';
import type { ResponsesRequest } from '../responses-request.ts';
import { type Misfits, NOT_HERE } from './misfit.ts';

/** Members with the same name and meaning in chat. */
export const SAME = [
  'temperature',
  'top_p',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
] as const;

/** Members that have another form in chat, or that this server handles itself for every source. */
const TRANSLATED = [
  'model',
  'input',
  'instructions',
  'previous_response_id',
  'max_output_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'include',
  'top_logprobs',
  'stream',
  'store',
  'background',
  'conversation',
  'truncation',
];

/**
 * Members that do not change the answer. Cache marks and lifetimes change the cost of a prompt; `stream_options` pads events;
 * `max_tool_calls` counts tools that an upstream runs, and none runs tools here; `client_metadata` describes Codex itself.
 */
const LEFT_OUT = [
  'metadata',
  'max_tool_calls',
  'stream_options',
  'client_metadata',
  'prompt_cache_options',
  'prompt_cache_retention',
];

const KNOWN: ReadonlySet<string> = new Set([...SAME, ...TRANSLATED, ...LEFT_OUT]);

/** Members without a counterpart in chat, each with the reason for the refusal. */
const WITHOUT_WORDS = [
  ['prompt', `names a stored prompt, which ${NOT_HERE}`],
  ['context_management', `asks for a conversation to be made shorter, which ${NOT_HERE}`],
  ['moderation', `asks for what is said to be judged, which ${NOT_HERE}`],
] as const;

const NAME_CHARS = 64;

/**
 * Removes from a translated chat the members of CHAT_MEMBERS that its source does not take. Copies the chat only when it loses
 * a member.
 */
export function withTakenMembers(
  chat: ChatRequest,
  taken: readonly ChatMember[] = [],
): ChatRequest {
  let sent: Record<string, unknown> & ChatRequest = chat;
  for (const member of CHAT_MEMBERS) {
    if (chat[member] === undefined || taken.includes(member)) continue;
    if (sent === chat) sent = { ...chat };
    sent[member] = undefined;
  }
  return sent;
}

/** Removes `temperature` and `top_p` from a chat if its model does not take them. */
export function withTakenSampling(chat: ChatRequest, sampling: Sampling | undefined): ChatRequest {
  const { reasoning_effort: effort } = chat;
  const untaken = untakenSampling(chat, sampling, effort === 'none' ? effort : undefined);
  if (untaken === undefined) return chat;
  return untaken === 'top_p'
    ? { ...chat, top_p: undefined }
    : { ...chat, temperature: undefined, top_p: undefined };
}

/**
 * Notes the members that chat cannot express. An unknown member counts as one too, because it may promise anything: only a
 * source with the Responses API can decide about it.
 */
export function noteMembers(request: ResponsesRequest, misfits: Misfits): void {
  for (const [member, why] of WITHOUT_WORDS) {
    if (isSet(request[member])) misfits.note(member, why);
  }
  if (request.truncation === 'auto') {
    misfits.note('truncation', `asks for a conversation to be cut, which ${NOT_HERE}`);
  }
  if (asksMorePasses(request.reasoning)) {
    misfits.note('reasoning.mode', `asks for more than thoughts of one answer, which ${NOT_HERE}`);
  }
  for (const name of Object.keys(request)) {
    if (KNOWN.has(name) || !isSet(request[name])) continue;
    misfits.note(name.slice(0, NAME_CHARS), NOT_HERE);
    return;
  }
}
