import { LIMITS } from '../../kernel/limits.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import type { RealtimeTokens } from '../../models/providers/realtime/metered-event.ts';
import { isImpossible } from '../../models/purchase/believe.ts';

/** The possible part of an upstream's count. `isImpossible`: the count exceeds any difference in how one counts. */
export type BelievedTurn = { readonly tokens: RealtimeTokens; readonly isImpossible: boolean };

const inputOf = ({ audioIn, textIn }: RealtimeTokens): number => audioIn + textIn;
const outputOf = ({ audioOut, textOut }: RealtimeTokens): number => audioOut + textOut;

/**
 * Bounds the tokens of a relayed turn. Input: all that was sent and answered before, within the context window. Output:
 * the model's longest answer or, where that is unknown, the bytes received.
 */
export class TurnBound {
  readonly #model: Model;
  /** Tokens of everything that the client sent, and of all answers. */
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

  /** Bounds the report of a turn. */
  turn(reported: RealtimeTokens): BelievedTurn {
    const { contextWindow, maxOutputTokens } = this.#model;
    const most = {
      input: Math.ceil(Math.min(this.#conversationTokens, contextWindow ?? Infinity)),
      output: maxOutputTokens ?? this.#outputSeen(),
    };
    this.#downBytes = 0;
    const believed = within(reported, most);
    this.#conversationTokens += outputOf(believed.tokens);
    return believed;
  }

  /** Bounds the report of a transcript: all transcripts together cover no more than the audio sent. */
  heard(reported: RealtimeTokens): BelievedTurn {
    const input = Math.ceil(this.#soundTokens) + LIMITS.unaskedTokens - this.#heardTokens;
    const output = 2 * input;
    const believed = within(reported, { input, output });
    this.#heardTokens += inputOf(believed.tokens);
    return believed;
  }

  #outputSeen(): number {
    const carried = Math.ceil(this.#downBytes / LIMITS.relayBytesPerToken.spoken);
    return Math.max(LIMITS.defaultOutputTokens, carried);
  }
}

/** Cuts audio before text, since audio costs more. */
function within(
  reported: RealtimeTokens,
  most: { readonly input: number; readonly output: number },
): BelievedTurn {
  const textIn = Math.min(reported.textIn, most.input);
  const audioIn = Math.min(reported.audioIn, most.input - textIn);
  const textOut = Math.min(reported.textOut, most.output);
  const tokens = {
    textIn,
    audioIn,
    textOut,
    audioOut: Math.min(reported.audioOut, most.output - textOut),
    cachedText: Math.min(reported.cachedText, textIn),
    cachedAudio: Math.min(reported.cachedAudio, audioIn),
  };
  return {
    tokens,
    isImpossible:
      isImpossible(inputOf(reported), most.input) || isImpossible(outputOf(reported), most.output),
  };
}
