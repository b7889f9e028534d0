/** The role of a leg of a call. Telnyx keeps it, and sends it with each callback and stream of the leg. */
export type ClientState =
  /** A call that this server placed, or that it answered. */
  | { readonly kind: 'outbound' | 'inbound'; readonly callId: string }
  /** A call that we placed or answered, once its stream was opened again. */
  | { readonly kind: 'streamed'; readonly callId: string }
  /** A call that was transferred to another party: its media stream stays closed. */
  | { readonly kind: 'transferring'; readonly callId: string }
  /** The leg to the other person of a transfer; `callControlId` is the leg of the transferred call. */
  | { readonly kind: 'target'; readonly callId: string; readonly callControlId: string };

const KINDS = ['outbound', 'inbound', 'streamed', 'transferring'] as const;

/** Encodes a state in base64, as Telnyx requires. */
export function encodeClientState(state: ClientState): string {
  const parts = [state.kind, state.callId];
  if (state.kind === 'target') parts.push(state.callControlId);
  return Buffer.from(parts.join(' ')).toString('base64');
}

/** Reads the state that Telnyx returns for a call. Undefined when this server did not write it. */
export function decodeClientState(text: unknown): ClientState | undefined {
  if (typeof text !== 'string' || text.length > 2_048) return undefined;
  const [kind, callId, callControlId, more] = Buffer.from(text, 'base64').toString().split(' ');
  if (callId === undefined || !/^[\w-]{1,128}$/.test(callId) || more !== undefined)
    return undefined;
  if (kind === 'target') return callControlId ? { kind, callId, callControlId } : undefined;
  const known = KINDS.find((one) => one === kind);
  return known && callControlId === undefined ? { kind: known, callId } : undefined;
}
