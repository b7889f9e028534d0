/**
 * Members of a chat request that some vendors accept and others answer with an error. They name the end user, place the prompt
 * in a cache, or set the service tier or the length of the answer; without them the answer is still valid.
 */
export const CHAT_MEMBERS = [
  'prompt_cache_key',
  'safety_identifier',
  'service_tier',
  'user',
  'verbosity',
] as const;

export type ChatMember = (typeof CHAT_MEMBERS)[number];
