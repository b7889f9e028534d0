import type { TimedWord, Transcript } from '../../engines/engine.ts';

/** One utterance, ended and transcribed. */
export type Heard = {
  /** Everything that was said in it. */
  readonly text: string;
  /** What came after the last segment that `segment` told of. */
  readonly tail: string;
  /** Of `tail`, where the recogniser knows when each was said. */
  readonly words?: readonly TimedWord[] | undefined;
  readonly heardMs: number;
  /** Where what `tail` says begins, and where the last voice in it ends. */
  readonly startMs: number;
  readonly endMs: number;
  /** The client asked for its end. */
  readonly asked: boolean;
  /** It had become too long for one: its speaker goes on. */
  readonly isCut: boolean;
  /** From the end of speech to this transcript: the silence that proved the end, and the decoding. */
  readonly latencyMs: number;
  /** The recogniser was lost on the way: the text is not all that was said. */
  readonly failed: boolean;
};

/** Words of an utterance that goes on, from where the last final ones ended to now. */
export type Segment = Transcript & { readonly startMs: number; readonly endMs: number };

/** What is heard, in order. Times are milliseconds of audio since the stream began. */
export type TranscriberEvents = {
  readonly began: (atMs: number) => void;
  readonly ended: (atMs: number, heardMs: number) => void;
  /** Words of the utterance that goes on: still changing, or final up to here. */
  readonly segment: (segment: Segment) => void;
  /** The recogniser is at an utterance that has ended. */
  readonly working?: () => void;
  readonly heard: (heard: Heard) => void;
  /** An utterance that went on was dropped: nothing is heard of it. */
  readonly forgotten?: () => void;
  /** The caller has likely said all, which is this; asked for by `Endpointing.speculateAfterMs`. */
  readonly paused?: (text: string) => void;
  /** The caller goes on after all. */
  readonly resumed?: () => void;
  /** The recogniser is gone. Utterances under way end with what is known of them. */
  readonly failed: (error: Error) => void;
};
