import type { Ending } from '../../../machines/transcription-stream.ts';
import { EngineBusy } from '../../engines/engine.ts';
import { type Clock, sleep } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/random.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { EventAllowance } from '../../voice/live/event-allowance.ts';
import type { AnswerRequest } from '../../voice/session/answer-request.ts';
import type { AnswerClient, Played, VoiceClient } from '../../voice/session/voice-client.ts';
import { StageFailed } from '../../voice/session/voice-pipeline.ts';
import type { Heard } from '../../voice/stt/transcriber-events.ts';
import { type AnswerEvents, AnswerWriter } from './answer-writer.ts';
import type { Delegation } from './delegation.ts';
import { LIVE_LIMITS } from './limits.ts';
import type { LiveSender } from './live-sender.ts';
import { PacedOutput } from './paced-output.ts';

export type LiveClientOptions = {
  readonly clock: Clock;
  readonly random: Random;
  readonly sender: LiveSender;
  readonly allowance: EventAllowance;
  readonly target: Delegation['type'];
  readonly events: AnswerEvents & { readonly ended: (ending: Ending) => void };
  /** Returns true while the session is ending, which stops the answer in progress. */
  readonly isEnding: () => boolean;
};

/**
 * Number of utterances whose times are kept until their words arrive. Bounded, because a dropped utterance never gets words.
 */
const SPANS = 16;

/**
 * Sends the events of a voice session in the protocol of `/v1/live/sessions`. Speech is sent in real time: the client plays all
 * that it has received, so only unsent speech can be cut by an interruption.
 */
export class LiveClient implements VoiceClient {
  readonly turnMs = LIVE_LIMITS.turnMs;
  readonly #options: LiveClientOptions;
  readonly #output: PacedOutput;
  readonly #startedAtMs: number;
  /** Times when the caller began to speak and fell silent, by item id. */
  readonly #spans = new RecentMap<string, { readonly startMs: number; endMs: number }>(SPANS);

  constructor(options: LiveClientOptions) {
    this.#options = options;
    this.#output = new PacedOutput(options.clock);
    this.#startedAtMs = options.clock.monotonicMs();
  }

  /** Returns the whole milliseconds since the session began. */
  readonly sinceMs = (): number =>
    Math.round(this.#options.clock.monotonicMs() - this.#startedAtMs);

  /** Returns true while a message is being spoken. */
  readonly isSpeaking = (): boolean => this.#output.heard !== undefined;

  get lastEventAtMs(): number {
    return this.#options.allowance.lastAtMs;
  }

  batch(work: () => void): void {
    this.#options.sender.batch(work);
  }

  get hasRoom(): boolean {
    return this.#options.sender.hasRoom && this.#output.aheadMs <= LIVE_LIMITS.aheadMs;
  }

  async room(signal: StopSignal): Promise<void> {
    const { clock, sender } = this.#options;
    while (!signal.aborted && sender.isOpen && !this.hasRoom) {
      await sender.room(signal);
      const overMs = this.#output.aheadMs - LIVE_LIMITS.aheadMs;
      if (overMs > 0) await sleep(clock, overMs, signal);
    }
  }

  speechStarted(itemId: string): void {
    const startMs = this.sinceMs();
    this.#spans.set(itemId, { startMs, endMs: startMs });
  }

  utterance({ item }: { readonly item: { readonly id: string } }): void {
    const span = this.#spans.get(item.id);
    if (span !== undefined) span.endMs = this.sinceMs();
  }

  /** Sends one delta for each utterance. Interim words may still change, but a client can only append deltas. */
  transcript(itemId: string, { failed, text }: Heard): void {
    const nowMs = this.sinceMs();
    const { startMs, endMs } = this.#spans.get(itemId) ?? { startMs: nowMs, endMs: nowMs };
    this.#spans.delete(itemId);
    const { sender } = this.#options;
    if (failed) {
      sender.failed({ code: 'engine_failed', message: 'The speech could not be transcribed.' });
    } else if (text !== '') {
      sender.send('session.input_transcript.delta', {
        delta: text,
        start_ms: startMs,
        end_ms: endMs,
      });
    }
  }

  transcriberFailed(error: Error): void {
    this.#options.sender.failed(transcriberProblem(error));
  }

  createAnswer(request: AnswerRequest): AnswerClient {
    const { events, isEnding, random, sender, target } = this.#options;
    const output = this.#output;
    return new AnswerWriter({
      events,
      isEnding,
      output,
      random,
      request,
      sender,
      target,
      sinceMs: this.sinceMs,
    });
  }

  /** Returns all sent audio as heard, since the protocol has no event that makes the client drop it. */
  clearPlayback(): readonly Played[] {
    const { heard } = this.#output;
    this.#output.end();
    return heard === undefined ? [] : [heard];
  }

  end(ending: Ending): void {
    this.#options.events.ended(ending);
  }
}

function transcriberProblem(error: Error): { readonly code: string; readonly message: string } {
  if (error instanceof StageFailed) return error;
  if (!(error instanceof EngineBusy)) return { code: 'engine_failed', message: error.message };
  const message = `${error.message}; speak again in ${error.retryAfterSeconds} s`;
  return { code: 'engine_overloaded', message };
}
