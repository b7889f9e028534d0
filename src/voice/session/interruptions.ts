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

/** Stops answers when the caller or the client interrupts. The conversation keeps the words that the caller has heard. */
export class Interruptions {
  readonly #deps: InterruptionDeps;

  constructor(deps: InterruptionDeps) {
    this.#deps = deps;
  }

  /**
   * Handles an interruption by the caller and returns what was played of each answer. Clears the client's playback first, since
   * the caller hears that.
   */
  bargeIn(): readonly Played[] {
    const { client, turns } = this.#deps;
    const played = client.clearPlayback();
    turns.bargeIn();
    for (const { heardMs, itemId } of played) this.heardUntil(itemId, heardMs);
    return played;
  }

  /** Records that the caller interrupted an answer after `heardMs`. Only the words heard by then stay in the conversation. */
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

  /**
   * Stops the answer `answerId`, or else the conversation's answer. Returns false when that answer is neither in progress nor
   * waiting.
   */
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
