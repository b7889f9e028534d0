import { RECORDING_NOTICE } from '../../recordings/recording.ts';
import type { CallTurn } from '../../records/said-turn.ts';
import { isTransferNote } from '../actions/transfer-note.ts';

/** Whether the far side of a call is still to be greeted: nothing was said but that the call is recorded. */
export const isUngreeted = (history: readonly CallTurn[]): boolean =>
  history.every(
    ({ content, role }) => role === 'assistant' && RECORDING_NOTICE.startsWith(content),
  );

/** What the far side of a call waits for, by what was said before this process had it. */
export function owedBy(history: readonly CallTurn[]): 'answer' | 'news_of_transfer' | 'nothing' {
  const last = history.at(-1);
  if (last?.role !== 'user') return 'nothing';
  return isTransferNote(last.content) ? 'news_of_transfer' : 'answer';
}
