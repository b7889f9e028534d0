import { RECORDING_NOTICE } from '../../recordings/recording.ts';
import type { CallTurn } from '../../records/said-turn.ts';
import { NOTES } from '../../voice/notes.ts';
import { isTransferNote } from '../actions/transfer-note.ts';

/** What the history of a call has where its process stopped in the middle of an answer. */
export const CUT_OFF = `${NOTES.line} You were cut off. Go on where you were.`;

const isOfNotice = ({ content, role }: CallTurn): boolean =>
  role === 'assistant' && RECORDING_NOTICE.startsWith(content);

/** Whether the far side of a call is still to be greeted: nothing was said but that the call is recorded. */
export const isUngreeted = (history: readonly CallTurn[]): boolean => history.every(isOfNotice);

/**
 * Whether a call may still begin with the notice that it is recorded: its agent has said nothing else. Whether the far side
 * has heard that to its end, the row of the recording says.
 */
export const mayAnnounce = (history: readonly CallTurn[]): boolean =>
  history.every((turn) => turn.role === 'user' || isOfNotice(turn));

/** What the far side of a call waits for, by what was said before this process had it. `isCut`: the last of it was not heard whole. */
export function owedBy(
  history: readonly CallTurn[],
  isCut: boolean,
): 'answer' | 'news_of_transfer' | 'rest_of_answer' | 'nothing' {
  const last = history.at(-1);
  if (last === undefined) return 'nothing';
  if (last.role === 'assistant') return isCut && !isOfNotice(last) ? 'rest_of_answer' : 'nothing';
  return isTransferNote(last.content) ? 'news_of_transfer' : 'answer';
}
