import type { TurnCause } from '../../../machines/voice-turn.ts';
import { bytesPerMs } from '../../../media/coding.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import { SPEECH_LIMITS } from '../../models/speech/limits.ts';
import type { AnswerReceipt, AnswerRequest } from '../../voice/session/answer-request.ts';
import type { AddedItem, ConversationItem } from '../../voice/session/conversation.ts';
import type { AnswerClient } from '../../voice/session/voice-client.ts';
import { renderReceipt } from '../openai-realtime/response-usage.ts';
import { DelegatedWork } from './delegated-work.ts';
import type { Delegation } from './delegation.ts';
import type { LiveSender } from './live-sender.ts';
import type { PacedOutput } from './paced-output.ts';

export type AnswerEvents = {
  /** Called when the model has delegated work to the application by the function call `callId`. */
  readonly handedOver: (callId: string) => void;
  /**
   * Called when the answer is over and another answer may begin. `hasDelegatedSilently` is true when the answer delegated work
   * without words.
   */
  readonly answerDone: (hasDelegatedSilently: boolean) => void;
};

/** Writes one answer to the client of a live session: its audio, its words, and its delegations. */
export class AnswerWriter implements AnswerClient {
  readonly id: string;
  readonly #sender: LiveSender;
  readonly #output: PacedOutput;
  readonly #events: AnswerEvents;
  readonly #target: Delegation['type'];
  readonly #work: DelegatedWork;
  readonly #bytesPerMs: number;
  readonly #sinceMs: () => number;
  readonly #isEnding: () => boolean;
  #hasSpoken = false;

  constructor(options: {
    readonly sender: LiveSender;
    readonly random: Random;
    readonly output: PacedOutput;
    readonly events: AnswerEvents;
    readonly target: Delegation['type'];
    readonly request: Pick<AnswerRequest, 'config'>;
    readonly sinceMs: () => number;
    /** Returns true while the session is ending. The session then reports the reason itself. */
    readonly isEnding: () => boolean;
  }) {
    const { random, request, sender, sinceMs, target } = options;
    this.id = newId(random, 'resp_');
    this.#sender = sender;
    this.#output = options.output;
    this.#events = options.events;
    this.#target = target;
    this.#bytesPerMs = bytesPerMs(request.config.outputFormat);
    this.#sinceMs = sinceMs;
    this.#isEnding = options.isEnding;
    const offsetMs = sinceMs;
    this.#work = new DelegatedWork({ sender, random, target, responseId: this.id, offsetMs });
  }

  created(): void {}

  itemAdded({ item }: AddedItem): void {
    if (item.type !== 'message') return;
    this.#hasSpoken = true;
    this.#output.begin(item.id);
  }

  /** Sends words before their audio, with estimated times: they begin where the audio sent so far ends. */
  text(delta: string): void {
    const startMs = Math.round(this.#sinceMs() + this.#output.aheadMs);
    const lastsMs = (Buffer.byteLength(delta) * 1_000) / SPEECH_LIMITS.textBytesPerSecond;
    this.#sender.send('session.output_transcript.delta', {
      delta,
      start_ms: startMs,
      end_ms: Math.round(startMs + lastsMs),
    });
  }

  audio(bytes: Uint8Array): void {
    this.#output.sent(bytes.length / this.#bytesPerMs);
    this.#sender.send('session.output_audio.delta', {
      delta: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
    });
  }

  itemDone(item: ConversationItem): void {
    if (item.type === 'message') this.#output.end();
    if (item.type !== 'function_call') return;
    this.#work.call(item);
    if (this.#target === 'client') this.#events.handedOver(item.callId);
  }

  done(cause: TurnCause | undefined, receipt: AnswerReceipt | undefined): void {
    this.#sender.batch(() => {
      if (cause?.kind === 'failed' && !this.#isEnding()) this.#sender.failed(cause);
      this.#work.done(cause, receipt);
      this.#sender.send('session.usage.updated', {
        usage: { seconds: this.#sinceMs() / 1_000 },
        ...(receipt && { metadata: renderReceipt(receipt) }),
      });
    });
    this.#events.answerDone(cause === undefined && this.#work.isBegun && !this.#hasSpoken);
  }
}
