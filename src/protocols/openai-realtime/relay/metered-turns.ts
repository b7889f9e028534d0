import type { Clock } from '../../../kernel/clock.ts';
import { RecentMap } from '../../../kernel/recent-map.ts';
import { VOICE_LIMITS } from '../../../voice/limits.ts';
import type { SessionTally } from '../../../voice/live/session-tally.ts';
import type { SessionTrace } from '../../../voice/live/session-trace.ts';
import type { TurnTrace, TurnUseNote } from '../../../voice/live/turn-trace.ts';
import { REALTIME_LIMITS } from '../limits.ts';
import type { MeteredEvent } from './metered-event.ts';
import type { RelayMeter } from './relay-meter.ts';

type MeteredTurnsDeps = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly meter: RelayMeter;
  readonly tally: Pick<SessionTally, 'interrupted' | 'stage' | 'turnEnded'>;
  /** Undefined when the session is not traced. */
  readonly trace?: SessionTrace | undefined;
  /** Returns true once the session is hung up. Then nothing is held for further turns. */
  readonly isOver: () => boolean;
  /** Called when more turns are in progress than a session may have. */
  readonly tooMany: () => void;
  /** Runs work that no caller awaits, and ends the session with an error when the work throws. */
  readonly guard: (work: () => void) => void;
};

type Done = Extract<MeteredEvent, { kind: 'done' }>;

const FAILED = { kind: 'failed', code: 'upstream_failed', message: '' } as const;
const INTERRUPTED = { kind: 'cancelled', reason: 'turn_detected' } as const;

/** Returns the cost of a turn, with the tokens that the upstream reported. Without a report it has no tokens. */
function useOf({ tokens }: Done, costRaw: bigint): TurnUseNote {
  if (tokens === null) return { costRaw };
  const { audioIn, audioOut, cachedAudio, cachedText, textIn, textOut } = tokens;
  return {
    inputTokens: textIn + audioIn,
    cachedTokens: cachedText + cachedAudio,
    outputTokens: textOut + audioOut,
    costRaw,
  };
}

const cancelOf = (response_id?: string): Uint8Array =>
  Buffer.from(JSON.stringify({ type: 'response.cancel', response_id }));

/** The turns of a relayed session and their costs. Each turn is billed once, when the upstream reports its end. */
export class MeteredTurns {
  readonly #deps: MeteredTurnsDeps;
  readonly #open = new OpenTurns();
  /** Traces of the turns in progress, by turn id. A turn without an id has no trace. */
  readonly #traces = new Map<string, TurnTrace>();

  constructor(deps: MeteredTurnsDeps) {
    this.#deps = deps;
  }

  /** Number of turns in progress. */
  get size(): number {
    return this.#open.size;
  }

  /** Handles an event. Resolves when the turn that the event ends is journaled; returns undefined when it ends no turn. */
  take(event: MeteredEvent): Promise<void> | undefined {
    const { isOver, meter, tooMany } = this.#deps;
    switch (event.kind) {
      case 'began':
        if (!this.#open.begin(event.id)) tooMany();
        else if (!isOver()) {
          meter.began(this.#open.size);
          this.#traceTurn(event.id);
        }
        return undefined;
      case 'done':
        return this.#open.end(event.id) ? this.#done(event) : undefined;
      case 'heard':
        if (event.id === null || this.#open.end(event.id)) this.#heard(event);
        return undefined;
    }
  }

  /** Tops the hold up to the cost of all turns in progress, or of the next turn when none is. */
  makeWhole(): void {
    const { isOver, meter } = this.#deps;
    if (!isOver()) meter.makeWhole(this.#open.size);
  }

  /**
   * Returns the events that cancel all responses in progress, by id. Without an id, an upstream cancels only the response of
   * the conversation.
   */
  *cancellations(): Iterable<Uint8Array> {
    for (const id of this.#open.ids) yield cancelOf(id);
    if (this.#open.hasNameless) yield cancelOf();
  }

  #done(turn: Done): Promise<void> | undefined {
    const { clock, meter, tally } = this.#deps;
    if (turn.isCancelled) tally.interrupted();
    tally.turnEnded();
    const trace = this.#tracedEnd(turn);
    const startedAtMs = clock.monotonicMs();
    const billed = meter.done(turn);
    if (billed === undefined) trace?.billed(useOf(turn, 0n));
    return billed?.then((costRaw) => {
      tally.stage('journal', clock.monotonicMs() - startedAtMs);
      trace?.billed(costRaw === undefined ? undefined : useOf(turn, costRaw));
    });
  }

  /** Ends the traces of turns in progress, which will not end because the session is over. */
  close(): void {
    for (const trace of this.#traces.values()) trace.billed(undefined);
    this.#traces.clear();
  }

  #traceTurn(id: string | null): void {
    const trace = id === null ? undefined : this.#deps.trace?.answers(true);
    if (id !== null && trace !== undefined) this.#traces.set(id, trace);
  }

  #tracedEnd({ id, isCancelled, isFailed }: Done): TurnTrace | undefined {
    const trace = id === null ? undefined : this.#traces.get(id);
    if (id === null || trace === undefined) return undefined;
    this.#traces.delete(id);
    const cause = isFailed ? FAILED : isCancelled ? INTERRUPTED : undefined;
    trace.finished(cause, id);
    return trace;
  }

  /** Bills a transcript from the hold of the next turn, then tops up that hold. */
  #heard(event: Extract<MeteredEvent, { kind: 'heard' }>): void {
    const billed = this.#deps.meter.heard(event);
    void billed?.then(() => this.#deps.guard(() => this.makeWhole()));
  }
}

/**
 * The turns of a relayed session as the upstream reports them: turns in progress and turns that ended.
 *
 * @internal Tests count turns of every kind of upstream.
 */
export class OpenTurns {
  readonly #open = new Set<string>();
  /** Number of turns in progress whose upstream sends no turn ids. */
  #nameless = 0;
  readonly #over = new RecentMap<string, true>(REALTIME_LIMITS.knownTurns);

  get size(): number {
    return this.#open.size + this.#nameless;
  }

  /** Ids of the turns in progress. */
  get ids(): Iterable<string> {
    return this.#open;
  }

  get hasNameless(): boolean {
    return this.#nameless > 0;
  }

  /** Records the beginning of a turn. Returns false when more turns are in progress than a session may have. */
  begin(id: string | null): boolean {
    if (id === null) this.#nameless++;
    else if (this.#over.get(id) === undefined) this.#open.add(id);
    return this.size <= VOICE_LIMITS.relay.responses;
  }

  /** Records the end of a turn. Returns false when the turn had ended before and must not be billed again. */
  end(id: string | null): boolean {
    if (id === null) {
      this.#nameless = Math.max(0, this.#nameless - 1);
      return true;
    }
    this.#open.delete(id);
    if (this.#over.get(id) !== undefined) return false;
    this.#over.set(id, true);
    return true;
  }
}
