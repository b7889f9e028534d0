import type { TurnLatency } from './turn-latency.ts';

/** What was said in a call, oldest first. */
export type CallTurn = { readonly role: 'user' | 'assistant'; readonly content: string };

/** What one side has just said. */
export type SaidTurn = CallTurn & {
  /** When it began to be heard, or was said. */
  readonly at: Date;
  /** Of an answer: its item, by which an interruption names it. */
  readonly itemId?: string;
  readonly latency?: TurnLatency | undefined;
};
