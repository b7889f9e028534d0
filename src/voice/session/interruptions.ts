import type { SessionTally } from '../live/session-tally.ts';
import type { VoiceDeps } from '../live/voice-deps.ts';
import type { Answering } from './answering.ts';
import type { Conversation } from './conversation.ts';
import type { TurnCycle } from './turn-cycle.ts';
import type { Played, VoiceClient } from './voice-client.ts';

type InterruptionDeps = Pick<VoiceDeps, 'trace'> & {
  readonly answering: Answering;
  readonly client: Pick<VoiceClient, 'clearPlayback'>;
  readonly conversation: Conversation;
  readonly tally: Pick<SessionTally, 'interrupted'>;
  readonly turns: TurnCycle;
};

/** Stops answers for the caller or the client, and keeps in the conversation what the caller has heard of them. */
export class Interruptions {
  readonly #deps: InterruptionDeps;

  constructor(deps: InterruptionDeps) {
    this.#deps = deps;
  }

  /** The caller interrupts. Clears the client's playback first, since the caller hears that, and returns what was heard. */
  bargeIn(): readonly Played[] {
    const { client, turns } = this.#deps;
    const played = client.clearPlayback();
    turns.bargeIn();
    for (const { heardMs, itemId } of played) this.heardUntil(itemId, heardMs);
    return played;
  }

  /** The caller interrupted an answer after `heardMs`: exactly the words heard stay in the conversation. */
  heardUntil(itemId: string, heardMs: number): void {
    const { answering, conversation, tally, trace } = this.#deps;
    const item = conversation.find(itemId);
    const spoken = answering.spoken(itemId);
    if (item?.type !== 'message' || spoken === undefined) return;
    spoken.cutAt(heardMs);
    const content = [{ type: 'speech', transcript: spoken.cut ?? '' }] as const;
    conversation.replace({ ...item, content });
    tally.interrupted();
    trace?.interrupted();
  }

  /** Stops an answer; without an id, that of the conversation. Returns false when none is in progress or waiting. */
  cancel(answerId: string | undefined): boolean {
    const { answering, turns } = this.#deps;
    const { activeId, isConversing } = answering;
    const isMeant = answerId === undefined ? isConversing : answerId === activeId;
    if (activeId !== undefined && isMeant) {
      answering.interrupt('client_cancelled');
      return true;
    }
    return answerId === undefined && turns.cancelWaiting();
  }
}
