import type { TimedWord, Transcript } from '../../engines/engine.ts';

/** Transcript of an utterance that has ended. */
export type Heard = {
  readonly text: string;
  /** The words after the last final `segment`. */
  readonly tail: string;
  /** Words of `tail` with their times; undefined when the recogniser reports none. */
  readonly words?: readonly TimedWord[] | undefined;
  readonly heardMs: number;
  /** Start of `tail` and end of its last voice, in milliseconds of audio since the stream began. */
  readonly startMs: number;
  readonly endMs: number;
  /** True when the client ended the utterance. */
  readonly asked: boolean;
  /** True when the utterance was cut at the maximum length and the caller is still speaking. */
  readonly isCut: boolean;
  /** Milliseconds from the end of speech to this transcript, including the silence that proved the end and the decoding. */
  readonly latencyMs: number;
  /** Milliseconds of silence after the utterance: up to this transcript, or to the next utterance when that began earlier. */
  readonly silentMs: number;
  /** True when the recogniser failed, so that the text is incomplete. */
  readonly failed: boolean;
  /** True when the recogniser has detected the end of the turn. Absent when it has not, or does not detect turns. */
  readonly isTurnOver?: boolean;
};

/** Words of the utterance in progress since its last final words. */
export type Segment = Transcript & { readonly startMs: number; readonly endMs: number };

/** Events of a transcriber, in order. Times are milliseconds of audio since the stream began. */
export type TranscriberEvents = {
  readonly began: (atMs: number) => void;
  readonly ended: (atMs: number, heardMs: number) => void;
  /** Called with words of the utterance in progress, interim or final. */
  readonly segment: (segment: Segment) => void;
  /** Called when the recogniser makes progress with an utterance that has ended. */
  readonly working?: () => void;
  readonly heard: (heard: Heard) => void;
  /** Called when the utterance in progress was dropped. */
  readonly forgotten?: () => void;
  /** Called when the caller has likely finished with `text`. Requires `Endpointing.speculateAfterMs`. */
  readonly paused?: (text: string) => void;
  /** Called when the caller speaks on after `paused`. */
  readonly resumed?: () => void;
  /** Called when the recogniser failed. Utterances in progress end with the words up to now. */
  readonly failed: (error: Error) => void;
};
