import { mcp } from './errors/mcp.ts';

/**
 * Every refusal that a caller can meet, with its wire spelling, by the specification's error tables.
 * Spellings stand nowhere else: the specification mixes snake_case and sentences, and clients compare
 * them letter by letter.
 */
export const errors = {
  mcp,
} as const;
