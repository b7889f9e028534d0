import type { ActionOfCall, LiveCallEvents } from '../live-call-options.ts';
import type { CallFeed } from './call-feed.ts';

/** Returns call event handlers that also send words, actions and interruptions to the readers of the call. */
export const followCall = (
  feed: Pick<CallFeed, 'tell'>,
  callId: string,
  { act, heard }: Pick<LiveCallEvents, 'act' | 'heard'>,
): Pick<LiveCallEvents, 'act' | 'heard' | 'words'> => ({
  words: (role, text) => feed.tell(callId, { type: 'transcript', role, text }),
  act(action) {
    feed.tell(callId, { type: 'tool', ...shown(action) });
    act(action);
  },
  heard(itemId, words) {
    feed.tell(callId, { type: 'interrupted', heard: words });
    heard(itemId, words);
  },
});

/** Returns an action for the readers, without the digits that it sends, which may be secret. */
const shown = (action: ActionOfCall) =>
  action.name === 'send_digits' ? { name: action.name } : action;
