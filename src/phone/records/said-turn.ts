import type { TurnLatency } from './turn-latency.ts';

/** A turn of a call: the words of one side. */
export type CallTurn = { readonly role: 'user' | 'assistant'; readonly content: string };

/** A turn that one side has just said. */
export type SaidTurn = CallTurn & {
  /** Time at which the peer began to hear an answer, or at which the caller's turn was heard. */
  readonly at: Date;
  /** Item of an answer, by which an interruption names it; absent for a turn of the caller. */
  readonly itemId?: string;
  readonly latency?: TurnLatency | undefined;
};
