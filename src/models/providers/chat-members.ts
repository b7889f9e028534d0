/**
 * Members of a chat that some vendors take, and for which others refuse the whole request. They say whom it is for, where its
 * prompt may lie in a cache, how soon it is wanted and how long the answer may be: without them the answer still fits.
 */
export const CHAT_MEMBERS = [
  'prompt_cache_key',
  'safety_identifier',
  'service_tier',
  'user',
  'verbosity',
] as const;

export type ChatMember = (typeof CHAT_MEMBERS)[number];
