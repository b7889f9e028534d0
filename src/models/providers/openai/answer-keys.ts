/** Members of a message or a delta that hold the model's output. */
export const ANSWER_KEYS = [
  'content',
  'refusal',
  'arguments',
  'reasoning_content',
  'reasoning',
] as const;

/** Members of a part that hold text of the model, when a content is a list of parts. */
export const PART_KEYS = ['text', ...ANSWER_KEYS] as const;
