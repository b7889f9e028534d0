import { LIMITS } from '../../kernel/limits.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import type { RealtimeTokens } from '../../models/providers/realtime/metered-event.ts';
import { isImpossible } from '../../models/purchase/believe.ts';

/** What of an upstream's count can be, and whether the rest of it is no matter of how one counts. */
export type BelievedTurn = { readonly tokens: RealtimeTokens; readonly isImpossible: boolean };

const inputOf = ({ audioIn, textIn }: RealtimeTokens): number => audioIn + textIn;
const outputOf = ({ audioOut, textOut }: RealtimeTokens): number => audioOut + textOut;

/**
 * Knows the most tokens that turns of a relayed session can have had: all that was carried to its upstream and written by
 * it before, within the model's window, and for an answer the model's longest, or what was carried of it where no longest
 * is known.
 */
export class TurnBound {
  readonly #model: Model;
  /** Of what its client has sent, and of all answers. */
  #conversationTokens: number = LIMITS.realtimeInputTokens;
  #soundTokens = 0;
  #heardTokens = 0;
  #downBytes = 0;

  constructor(model: Model) {
    this.#model = model;
  }

  carried(direction: 'up' | 'down', bytes: number, isSound: boolean): void {
    if (direction === 'down') {
      this.#downBytes += bytes;
      return;
    }
    const soundTokens = bytes / LIMITS.relayBytesPerToken.heard;
    this.#soundTokens += soundTokens;
    this.#conversationTokens += isSound ? soundTokens : bytes;
  }

  /** A turn as its upstream has counted it. */
  turn(told: RealtimeTokens): BelievedTurn {
    const { contextWindow, maxOutputTokens } = this.#model;
    const most = {
      input: Math.ceil(Math.min(this.#conversationTokens, contextWindow ?? Infinity)),
      output: maxOutputTokens ?? this.#outputSeen(),
    };
    this.#downBytes = 0;
    const believed = within(told, most);
    this.#conversationTokens += outputOf(believed.tokens);
    return believed;
  }

  /** A transcript of what was heard: of all sound together no more than was carried. */
  heard(told: RealtimeTokens): BelievedTurn {
    const input = Math.ceil(this.#soundTokens) + LIMITS.unaskedTokens - this.#heardTokens;
    const output = 2 * input;
    const believed = within(told, { input, output });
    this.#heardTokens += inputOf(believed.tokens);
    return believed;
  }

  #outputSeen(): number {
    const carried = Math.ceil(this.#downBytes / LIMITS.relayBytesPerToken.spoken);
    return Math.max(LIMITS.defaultOutputTokens, carried);
  }
}

/** Of what is too much the dearer kind goes first. */
function within(
  told: RealtimeTokens,
  most: { readonly input: number; readonly output: number },
): BelievedTurn {
  const textIn = Math.min(told.textIn, most.input);
  const audioIn = Math.min(told.audioIn, most.input - textIn);
  const textOut = Math.min(told.textOut, most.output);
  const tokens = {
    textIn,
    audioIn,
    textOut,
    audioOut: Math.min(told.audioOut, most.output - textOut),
    cachedText: Math.min(told.cachedText, textIn),
    cachedAudio: Math.min(told.cachedAudio, audioIn),
  };
  return {
    tokens,
    isImpossible:
      isImpossible(inputOf(told), most.input) || isImpossible(outputOf(told), most.output),
  };
}
