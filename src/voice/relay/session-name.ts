import { renameModel } from '../../models/providers/openai/rename-model.ts';
import { leadingType } from '../../models/providers/realtime/metered-event.ts';

/** What an upstream says of a session, and what a client asks of one; all other frames name no model. */
const TOLD: ReadonlySet<string> = new Set(['session.created', 'session.updated']);
const ASKED: ReadonlySet<string> = new Set(['session.update']);

/** The model stands in the session, which stands in the event. */
const OUTSIDE = -1;

/** A frame of an upstream, with the catalogue's name for the model where the frame describes the session. */
export const nameTold = (frame: Buffer, type: string | undefined, name: string): Buffer =>
  speaksOf(frame, type, TOLD) ? renameModel(frame, name, OUTSIDE) : frame;

/**
 * A frame of a client, with the upstream's name for the model where the frame sets the session up: clients name it in
 * each of these as they named it in the handshake, and a session stays with the model that it was opened with.
 */
export function nameAsked(bytes: Uint8Array, name: string): Uint8Array {
  const frame = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return speaksOf(frame, leadingType(frame), ASKED) ? renameModel(frame, name, OUTSIDE) : bytes;
}

/** Where the type does not come first, it is searched for: its quotes are in no encoded sound and in no text. */
const speaksOf = (frame: Buffer, type: string | undefined, types: ReadonlySet<string>): boolean =>
  type === undefined ? [...types].some((one) => frame.includes(`"${one}"`)) : types.has(type);
