import type { SessionEndReason } from '../../../machines/call.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';

const ASK_AGAIN = 'Sorry, I could not hear that. Could you say it again?';
/** The ending of a call whose caller cannot be transcribed. */
export const TRANSCRIBER_LOST = 'transcriber_lost' satisfies SessionEndReason;

/** Reports a lost utterance to the caller, and ends a call that loses `VOICE_LIMITS.lostUtterances` in a row. */
export class LostWords {
  readonly #call: { say(text: string): void; end(reason: string): void };
  #lost = 0;

  constructor(call: { say(text: string): void; end(reason: string): void }) {
    this.#call = call;
  }

  /** Handles a transcribed utterance: words reset the count of lost utterances. */
  heard(text: string): void {
    if (text !== '') this.#lost = 0;
  }

  /** Handles an utterance that the transcriber lost. */
  lost(): void {
    this.#lost += 1;
    if (this.#lost >= VOICE_LIMITS.lostUtterances) this.#call.end(TRANSCRIBER_LOST);
    else this.#call.say(ASK_AGAIN);
  }
}
