import type { CallAction } from '../../voice/call-actions.ts';

/** A developer's command to a live call. */
export type LiveCommand =
  /** Says a text as it is, after what is said now, or in its place. */
  | { readonly kind: 'say'; readonly text: string; readonly interrupt: boolean }
  /** Adds a system message, and lets the model answer it. */
  | { readonly kind: 'inject'; readonly text: string; readonly respond: boolean }
  | ({ readonly kind: 'transfer' } & Omit<Extract<CallAction, { name: 'transfer_call' }>, 'name'>);
