import type { FailedTransfer } from '../../carriers/carrier.ts';
import { NOTES } from '../../voice/notes.ts';

const BEGIN = `${NOTES.transfer} The other person was not reached`;

/** Returns the note of a failed transfer for the history. */
export const transferNote = (outcome?: FailedTransfer): string =>
  outcome === undefined ? `${BEGIN}.` : `${BEGIN}: ${outcome}.`;

export const isTransferNote = (content: string | undefined): content is string =>
  content?.startsWith(BEGIN) === true;
