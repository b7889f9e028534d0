import type { TimedWord, Transcript } from '../../engines/engine.ts';

/** One utterance, ended and transcribed. */
export type Heard = {
  readonly text: string;
  /** The words after the last final `segment`. */
  readonly tail: string;
  /** The words of `tail`, where the recogniser reports their times. */
  readonly words?: readonly TimedWord[] | undefined;
  readonly heardMs: number;
  /** Start of `tail` and end of its last voice, in milliseconds of audio since the stream began. */
  readonly startMs: number;
  readonly endMs: number;
  /** The client ended it. */
  readonly asked: boolean;
  /** True when the utterance was cut at the maximum length and the caller is still speaking. */
  readonly isCut: boolean;
  /** From the end of speech to this transcript: the silence that proved the end, and the decoding. */
  readonly latencyMs: number;
  /** The recogniser was lost, so the text is incomplete. */
  readonly failed: boolean;
  /** True when the recogniser has detected the end of the turn. Absent when it has not, or does not detect turns. */
  readonly isTurnOver?: boolean;
};

/** Words of the utterance in progress, from the last final ones to now. */
export type Segment = Transcript & { readonly startMs: number; readonly endMs: number };

/** Events of a transcriber, in order. Times are milliseconds of audio since the stream began. */
export type TranscriberEvents = {
  readonly began: (atMs: number) => void;
  readonly ended: (atMs: number, heardMs: number) => void;
  /** Words of the utterance in progress: interim, or final. */
  readonly segment: (segment: Segment) => void;
  /** The recogniser makes progress with an utterance that has ended. */
  readonly working?: () => void;
  readonly heard: (heard: Heard) => void;
  /** The utterance in progress was dropped. */
  readonly forgotten?: () => void;
  /** The caller has likely finished with `text`; sent where `Endpointing.speculateAfterMs` is set. */
  readonly paused?: (text: string) => void;
  /** The caller goes on after all. */
  readonly resumed?: () => void;
  /** The recogniser failed. Utterances in progress end with the words so far. */
  readonly failed: (error: Error) => void;
};
