import type { Model, Source } from '../../../models/catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
import { isImpossible } from '../../../models/purchase/clamp-usage.ts';
import { REALTIME_LIMITS } from '../limits.ts';
import type { RealtimeTokens } from './metered-event.ts';
import type { CarriedFrame } from './relay-meter.ts';

/**
 * The possible part of an upstream's count. `isImpossible` is true when the count exceeds any difference between ways of
 * counting.
 */
export type ClampedTurn = { readonly tokens: RealtimeTokens; readonly isImpossible: boolean };

/** Upper bound of the tokens of one side of a turn, and of the audio tokens among them. */
type Most = { readonly all: number; readonly sound: number };

const inputOf = ({ audioIn, textIn }: RealtimeTokens): number => audioIn + textIn;
const outputOf = ({ audioOut, textOut }: RealtimeTokens): number => audioOut + textOut;

/**
 * Bounds the tokens of a relayed turn by the frames that were forwarded (docs/decisions/0122). Input: all that was sent and
 * answered before, within the context window. Output: the answers received and not yet billed.
 */
export class TurnBound {
  readonly #contextWindow: number;
  readonly #longestAnswer: number;
  /** Tokens that a reasoning model may bill without an answer. */
  readonly #thoughtTokens: number;
  /** Sound that the client sent. */
  #soundTokens = 0;
  /** Sound that a turn reads again: sent and answered. */
  #conversationSound = 0;
  /** All that a turn reads again. */
  #conversationTokens = 0;
  #heardTokens = 0;
  /** Answers received and not yet billed. */
  #spokenTokens = 0;
  #writtenTokens = 0;

  constructor({ contextWindow, maxOutputTokens }: Model, { efforts }: Pick<Source, 'efforts'>) {
    this.#contextWindow = contextWindow ?? Infinity;
    this.#longestAnswer = maxOutputTokens ?? Infinity;
    this.#thoughtTokens =
      efforts === undefined ? 0 : (maxOutputTokens ?? MODEL_LIMITS.tokens.usualOutput);
  }

  /** Counts a frame that the client sent. */
  sent(bytes: number, isSound: boolean): void {
    const soundTokens = bytes / REALTIME_LIMITS.heardTokenBytes;
    this.#soundTokens += soundTokens;
    this.#conversationSound += soundTokens;
    this.#conversationTokens += isSound ? soundTokens : bytes;
  }

  /** Counts a frame that the upstream sent. */
  received({ itemBytes = 0, spokenTokens = 0, writtenTokens = 0 }: CarriedFrame): void {
    this.#spokenTokens += spokenTokens;
    this.#writtenTokens += writtenTokens;
    this.#conversationTokens += itemBytes;
  }

  /** Cuts the upstream's report of a turn to the possible tokens, and counts the turn. */
  turn(reported: RealtimeTokens): ClampedTurn {
    const { answered, heard } = REALTIME_LIMITS.uncarriedTokens;
    const read = this.#conversationTokens + MODEL_LIMITS.usage.unaskedTokens;
    const spoken = this.#spokenTokens + answered;
    const said = Math.max(spoken + this.#writtenTokens, this.#thoughtTokens);
    const believed = within(
      reported,
      { all: Math.min(read, this.#contextWindow), sound: this.#conversationSound + heard },
      { all: Math.min(said, this.#longestAnswer), sound: spoken },
    );
    this.#answered(believed.tokens);
    return believed;
  }

  /** Counts a turn that was billed by an estimate from the forwarded audio. */
  estimated(tokens: RealtimeTokens): void {
    this.#answered(tokens);
  }

  /** Cuts the upstream's report of a transcript: all transcripts together cover no more than the audio sent. */
  heard(reported: RealtimeTokens): ClampedTurn {
    const input =
      Math.ceil(this.#soundTokens) + MODEL_LIMITS.usage.unaskedTokens - this.#heardTokens;
    const output = 2 * input;
    const believed = within(reported, { all: input, sound: input }, { all: output, sound: output });
    this.#heardTokens += inputOf(believed.tokens);
    return believed;
  }

  #answered(tokens: RealtimeTokens): void {
    this.#spokenTokens = Math.max(0, this.#spokenTokens - tokens.audioOut);
    this.#writtenTokens = Math.max(0, this.#writtenTokens - tokens.textOut);
    this.#conversationTokens += outputOf(tokens);
    this.#conversationSound += tokens.audioOut;
  }
}

function within(reported: RealtimeTokens, mostIn: Most, mostOut: Most): ClampedTurn {
  const read = cut(reported.textIn, reported.audioIn, mostIn);
  const said = cut(reported.textOut, reported.audioOut, mostOut);
  const cachedAudio = Math.min(reported.cachedAudio, read.sound);
  const movedCache = Math.min(read.moved, reported.cachedAudio - cachedAudio);
  return {
    tokens: {
      textIn: read.text,
      audioIn: read.sound,
      textOut: said.text,
      audioOut: said.sound,
      cachedText: Math.min(reported.cachedText + movedCache, read.text),
      cachedAudio,
    },
    isImpossible:
      isImpossible(inputOf(reported), mostIn.all) || isImpossible(outputOf(reported), mostOut.all),
  };
}

/** Cuts audio before text, since audio costs more. Audio beyond its own bound is `moved` to text where there is room. */
function cut(text: number, sound: number, most: Most) {
  const all = Math.ceil(most.all);
  const written = Math.min(text, all);
  const carried = Math.min(sound, Math.ceil(most.sound), all - written);
  const moved = Math.min(sound - carried, all - written - carried);
  return { text: written + moved, sound: carried, moved };
}
