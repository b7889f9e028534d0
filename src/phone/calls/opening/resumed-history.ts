import { RECORDING_NOTICE } from '../../recordings/recording.ts';
import type { CallTurn } from '../../records/said-turn.ts';
import { NOTES } from '../../voice/notes.ts';
import { isTransferNote } from '../actions/transfer-note.ts';

/** Note in the history of a call whose process stopped in the middle of an answer. */
export const CUT_OFF = `${NOTES.line} You were cut off. Go on where you were.`;

const isOfNotice = ({ content, role }: CallTurn): boolean =>
  role === 'assistant' && RECORDING_NOTICE.startsWith(content);

/** Returns true when the peer is still to be greeted: only the notice of the recording was said. */
export const isUngreeted = (history: readonly CallTurn[]): boolean => history.every(isOfNotice);

/**
 * Returns true when a call may still begin with the notice that it is recorded, since its agent has said nothing else. The row
 * of the recording says if the peer has heard the whole notice.
 */
export const mayAnnounce = (history: readonly CallTurn[]): boolean =>
  history.every((turn) => turn.role === 'user' || isOfNotice(turn));

/**
 * Returns the kind of words that the peer waits for after the turns of an earlier process. `isCut`: the last turn was not heard
 * to its end.
 */
export function owedBy(
  history: readonly CallTurn[],
  isCut: boolean,
): 'answer' | 'news_of_transfer' | 'rest_of_answer' | 'nothing' {
  const last = history.at(-1);
  if (last === undefined) return 'nothing';
  if (last.role === 'assistant') return isCut && !isOfNotice(last) ? 'rest_of_answer' : 'nothing';
  return isTransferNote(last.content) ? 'news_of_transfer' : 'answer';
}
