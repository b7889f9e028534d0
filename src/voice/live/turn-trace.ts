import type { TurnCause } from '../../../machines/voice-turn.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Span } from '../../platform/tracing/span.ts';

/** Times of the speech that a turn answers, in milliseconds of the monotonic clock. */
export type SpeechTimes = {
  /** Time when the caller fell silent. */
  readonly endMs: number;
  /** Time at which turn detection detected the end of the speech. */
  readonly foundMs: number;
  /** Time when the words were known. */
  readonly heardMs: number;
};

/** Tokens that a turn used, and the cost that the ledger has journaled for the turn. */
export type TurnUseNote = {
  readonly inputTokens?: number;
  readonly cachedTokens?: number;
  readonly outputTokens?: number;
  readonly costRaw: bigint;
};

/**
 * The span of one turn, from the end of the caller's speech until its charge is journaled, with a child span for each stage.
 * Each stage begins when the previous stage ended.
 */
export class TurnTrace {
  readonly span: Span;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #asked: SpeechTimes | undefined;
  readonly #beganMs: number;
  readonly #over: () => void;
  #tokenMs: number | undefined;
  #soundMs: number | undefined;
  #frameMs: number | undefined;
  #error: string | undefined;

  /** `asked` is undefined when the answer responds to no speech. `over` is called when the turn makes no further purchases. */
  constructor(
    parent: Span,
    clock: Pick<Clock, 'monotonicMs'>,
    asked: SpeechTimes | undefined,
    over: () => void,
  ) {
    this.#clock = clock;
    this.#asked = asked;
    this.#over = over;
    this.#beganMs = clock.monotonicMs();
    this.span = parent.child('voice turn', { atMs: asked?.endMs ?? this.#beganMs });
  }

  /** Records that the model has written text. Only the first call counts, as in `sound` and `frame`. */
  token(): void {
    this.#tokenMs ??= this.#clock.monotonicMs();
  }

  /** Records that the TTS has produced audio. */
  sound(): void {
    this.#soundMs ??= this.#clock.monotonicMs();
  }

  /** Records that audio was sent. */
  frame(): void {
    this.#frameMs ??= this.#clock.monotonicMs();
  }

  /** Ends the turn's stages. `frameMs` is the time when its first audio was sent on a line that paces the audio. */
  finished(cause: TurnCause | undefined, answerId: string, frameMs = this.#frameMs): void {
    this.#over();
    if (cause?.kind === 'failed') this.#error = cause.code;
    this.span.set({
      'svc.answer.id': answerId,
      'svc.turn.end': cause?.kind ?? 'completed',
      'svc.turn.interrupted': cause?.kind === 'cancelled',
    });
    this.#stages(frameMs);
    this.span.stop();
  }

  /** Ends the span once the turn's charge is journaled. With undefined, nothing was charged. */
  billed(use: TurnUseNote | undefined): void {
    this.#over();
    this.span.end({
      attributes:
        use === undefined
          ? {}
          : {
              'gen_ai.usage.input_tokens': use.inputTokens,
              'gen_ai.usage.cache_read.input_tokens': use.cachedTokens,
              'gen_ai.usage.output_tokens': use.outputTokens,
              'svc.cost_raw': Number(use.costRaw),
            },
      error: this.#error,
    });
  }

  #stages(frameMs: number | undefined): void {
    const chain: [name: string, untilMs: number | undefined][] = [
      ['end_of_turn', this.#asked?.foundMs],
      ['transcript', this.#asked?.heardMs],
      ['first_token', this.#tokenMs],
      ['first_sound', this.#soundMs],
      ['first_frame', frameMs],
    ];
    let fromMs = this.#asked?.endMs ?? this.#beganMs;
    for (const [name, untilMs] of chain) {
      if (untilMs === undefined) continue;
      // A speculative answer can have its first words before the caller's words are final.
      const endMs = Math.max(fromMs, untilMs);
      this.span.child(name, { atMs: fromMs }).end({ atMs: endMs });
      fromMs = endMs;
    }
  }
}
