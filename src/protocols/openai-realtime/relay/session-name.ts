import { renameModel } from '../../../models/providers/openai/rename-model.ts';
import { leadingType } from './metered-event.ts';

/** Types of events that name the model, from an upstream and from a client. */
const FROM_UPSTREAM: ReadonlySet<string> = new Set(['session.created', 'session.updated']);
const FROM_CLIENT: ReadonlySet<string> = new Set(['session.update']);

/** Nesting depth at which the search starts: the model is a member of `session`, which is a member of the event. */
const OUTSIDE = -1;

/** Replaces the model id in an upstream frame that describes the session by the catalogue's id. */
export const nameForClient = (frame: Buffer, type: string | undefined, name: string): Buffer =>
  isOneOf(frame, type, FROM_UPSTREAM) ? renameModel(frame, name, OUTSIDE) : frame;

/** Replaces the model id in a client's `session.update` by the upstream's id. Clients repeat the id of the handshake there. */
export function nameForUpstream(bytes: Uint8Array, name: string): Uint8Array {
  const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isOneOf(frame, leadingType(frame), FROM_CLIENT)
    ? renameModel(frame, name, OUTSIDE)
    : bytes;
}

/**
 * Returns true when the frame has one of the types. Without a leading type, searches the frame for a quoted type: base64 and
 * JSON text contain no plain quotes.
 */
const isOneOf = (frame: Buffer, type: string | undefined, types: ReadonlySet<string>): boolean =>
  type === undefined ? [...types].some((one) => frame.includes(`"${one}"`)) : types.has(type);
