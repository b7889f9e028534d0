import type { Call } from '../call.ts';

/** An event of a live call. Only turns have an id, from which a reader continues after a broken connection. */
export type FeedEvent =
  /** The state of the call, at the begin of the stream and after each change. The last event of a call is terminal. */
  | ({ readonly type: 'status' } & CallState)
  /** Words of the present turn: all words of the caller up to now, or the next words of the agent. */
  | { readonly type: 'transcript'; readonly role: 'user' | 'assistant'; readonly text: string }
  /** A turn that is complete and written. */
  | ({ readonly type: 'turn' } & NumberedTurn)
  /** The caller has interrupted the agent, of whose answer this was heard. */
  | { readonly type: 'interrupted'; readonly heard: string }
  /** The call does something beside speaking. */
  | { readonly type: 'tool'; readonly name: string; readonly [detail: string]: unknown }
  /** Cost of the call up to now, from the journal. */
  | { readonly type: 'cost'; readonly costRaw: string }
  /** Gap in the stream of a slow reader: the number of dropped events before this event. */
  | { readonly type: 'lost'; readonly events: number }
  /** End of the stream at this process: the reader continues at another process, from the last turn. */
  | { readonly type: 'moved' };

export type CallState = Pick<Call, 'status' | 'terminal'> & { readonly endReason: string | null };

export type NumberedTurn = {
  readonly seq: number;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly at: string;
};

/** Returns an event in the form of Server-Sent Events. */
export function encodeEvent({ type, ...data }: FeedEvent): Uint8Array {
  const id = type === 'turn' && 'seq' in data ? `id: ${data.seq}\n` : '';
  return Buffer.from(`${id}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A comment that keeps proxies and the server from closing a silent stream. */
export const KEEP_ALIVE: Uint8Array = Buffer.from(': \n\n');
