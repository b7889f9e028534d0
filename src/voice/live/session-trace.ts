import type { Clock } from '../../kernel/clock.ts';
import type { SessionSummary } from '../../ledger/rules/session-summary.ts';
import { sessionAttributes } from '../../models/routing/attempt-span.ts';
import type { Span, SpanStart } from '../../platform/tracing/span.ts';
import type { SessionHoldOwner } from '../billing/session-hold.ts';
import { type SpeechTimes, TurnTrace } from './turn-trace.ts';

/** Upper bound of the utterances that have ended and whose words are not known yet. */
const MOST_UTTERANCES = 16;

export type SessionTraceDeps = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Begins the span of the session. The creator of the trace chooses the parent of the span. */
  readonly begin: (name: string, start: SpanStart) => Span;
};

/** The spans of one live session: its own span, and one span for each turn. Only events of turns arrive here, never audio. */
export class SessionTrace {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #begin: SessionTraceDeps['begin'];
  /** Times when the ends of the utterances without words were detected, oldest first. */
  readonly #found: number[] = [];
  #session: Span | undefined;
  #turn: TurnTrace | undefined;
  /** Times of the caller's last speech that no turn answers yet. */
  #asked: SpeechTimes | undefined;
  #chargedRaw = 0n;

  constructor({ begin, clock }: SessionTraceDeps) {
    this.#begin = begin;
    this.#clock = clock;
  }

  /** Returns the parent span of purchases: the turn in progress, or the session. Undefined before the session has begun. */
  get span(): Span | undefined {
    return this.#turn?.span ?? this.#session;
  }

  began({ kind, model, sessionId, source, spender }: SessionHoldOwner): void {
    this.#session = this.#begin(`${kind} session`, {
      attributes: {
        'svc.session.id': sessionId,
        'svc.agent.id': spender.agentId,
        ...(kind !== 'call' &&
          sessionAttributes(kind === 'realtime' ? 'realtime' : 'stt', model, source)),
      },
    });
  }

  /** Records that turn detection has detected the end of an utterance. */
  utteranceEnded(): void {
    if (this.#found.length < MOST_UTTERANCES) this.#found.push(this.#clock.monotonicMs());
  }

  /** Records that the words of the oldest ended utterance are known, `latencyMs` after its end. */
  heard(latencyMs: number, isAnswered: boolean): void {
    const heardMs = this.#clock.monotonicMs();
    const foundMs = this.#found.shift() ?? heardMs;
    if (!isAnswered) return;
    this.#asked = { endMs: Math.min(foundMs, heardMs - latencyMs), foundMs, heardMs };
  }

  /**
   * Begins the trace of an answer; undefined when the session is not traced. `isToCaller` is true when the answer responds to
   * the caller's speech.
   */
  answers(isToCaller: boolean): TurnTrace | undefined {
    if (this.#session === undefined) return undefined;
    const asked = isToCaller ? this.#asked : undefined;
    if (isToCaller) this.#asked = undefined;
    const turn = new TurnTrace(this.#session, this.#clock, asked, () => {
      if (this.#turn === turn) this.#turn = undefined;
    });
    this.#turn = turn;
    return turn;
  }

  /** Records that the first audio of the answer in progress was sent, for an upstream that reports no stages. */
  sounded(): void {
    this.#turn?.frame();
  }

  /** Records that the caller interrupted an answer, whose turn may be over. */
  interrupted(): void {
    this.#session?.event('interruption');
  }

  /** Adds the charge of a hold that is settled. */
  charged(raw: bigint): void {
    this.#chargedRaw += raw;
  }

  /** Ends the span of the session. `isFailed` is true when the server ended the session because of a failure. */
  ended(reason: string, isFailed: boolean, summary: SessionSummary | undefined): void {
    this.#session?.end({
      attributes: {
        'svc.session.end_reason': reason,
        'svc.session.turns': summary?.turns,
        'svc.session.interruptions': summary?.interruptions,
        'svc.session.heard_seconds': summary?.heardSeconds,
        'svc.session.spoken_seconds': summary?.spokenSeconds,
        'svc.cost_raw': Number(this.#chargedRaw),
      },
      error: isFailed ? reason : undefined,
    });
  }
}
