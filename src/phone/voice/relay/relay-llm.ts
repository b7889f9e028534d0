import type { TimerHandle } from '../../../kernel/clock.ts';
import type { Random } from '../../../kernel/random.ts';
import type { ConversationItem } from '../../../voice/session/conversation.ts';
import {
  type Llm,
  type LlmPiece,
  type LlmReply,
  type LlmRequest,
  StageFailed,
} from '../../../voice/session/voice-pipeline.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { AnswerManner } from '../call-parties.ts';
import { NO_TOKENS } from '../no-tokens.ts';
import { isNote } from '../notes.ts';
import { type SpokenTurn, spokenTurns } from '../spoken-turns.ts';
import { RelayLink, type RelayLinkDeps } from './relay-link.ts';
import type { RelayMessage } from './relay-message.ts';
import { RelayQueue } from './relay-queue.ts';
import { type RelayCall, relaySetup } from './relay-setup.ts';

export type RelayLlmDeps = RelayLinkDeps & { readonly random: Random };

/** An application that speaks ConversationRelay, as the responder of one call. */
export interface RelayLlm extends Llm {
  /** Sends a keypad digit of the caller to the application. */
  dtmf(digit: string): void;
  /** Notes that the caller interrupted an answer after hearing `utteranceUntilInterrupt`. */
  interrupted(utteranceUntilInterrupt: string, durationMs: number): void;
  /**
   * Sets the callback for words of the application that no request awaits, and for its failure: the next requested answer
   * carries them. The callback runs again at each `answered` until an answer is requested. It must not throw.
   */
  onUnprompted(callback: () => void): void;
  /** Sets what stops an answer that the application cuts short by saying something else. The callback must not throw. */
  onPreempted(callback: () => void): void;
  /** Sets the callback for changes of the rules by which the latest answer may be interrupted. The callback must not throw. */
  onManner(callback: (manner: AnswerManner) => void): void;
  /** Notes that the caller has spoken, which ends an answer that has paused. */
  callerSpoke(): void;
  /** Notes that an answer of the call has ended: an answer of the application, or a scripted sentence of this server. */
  answered(): void;
  /** Closes the session with the application. */
  close(): void;
}

const END = { kind: 'action', action: { name: 'end_call' } } as const;

type Waiting = {
  /** Words of the caller. Undefined when the answer takes words that the application sent without a prompt. */
  readonly prompt: string | undefined;
  readonly startedAtMs: number;
  hasBegun: boolean;
  /** Pauses since the application said something last. */
  pauses: number;
};

const {
  answerMs: relayAnswerMs,
  longPauseMs: relayLongPauseMs,
  pauseMs: relayPauseMs,
  quietMs: relayQuietMs,
} = PHONE_LIMITS.relay;
/** A sentence is spoken after the first pause, any words after the second; the last one ends the answer. */
const PAUSES_MS = [relayPauseMs, relayLongPauseMs - relayPauseMs, relayQuietMs - relayLongPauseMs];

/**
 * Creates the responder, and connects to the application in the background. Each utterance is sent as one prompt, and the reply
 * is spoken token by token; it rejects with `llm_refused` when the application is gone or does not answer.
 */
export function createRelayLlm(deps: RelayLlmDeps, call: RelayCall): RelayLlm {
  return new RelaySession(deps, call);
}

class RelaySession implements RelayLlm {
  readonly #deps: RelayLlmDeps;
  readonly #link: RelayLink;
  readonly #queue = new RelayQueue();
  /** Answer in progress. Undefined when the application owes no answer. */
  #waiting: Waiting | undefined;
  #wake = () => {};
  #failure: StageFailed | undefined;
  /** True when the application has closed the session: it ends the call, even when the caller goes on. */
  #isGone = false;
  #sentIds: ReadonlySet<string> = new Set();
  #unprompted: (() => void) | undefined;
  #preempted: (() => void) | undefined;
  /** State of the application's latest answer: it is preemptible, and (`#isOver`) complete. */
  #isPreemptible = false;
  #isOver = false;
  #isInterruptible = true;
  /** The answer in progress has said all for now: it ends when the caller speaks, or by time. */
  #isResting = false;
  #manner: ((manner: AnswerManner) => void) | undefined;

  constructor(deps: RelayLlmDeps, call: RelayCall) {
    this.#deps = deps;
    const setup = relaySetup(call, deps.random);
    this.#link = new RelayLink(
      deps,
      { agentId: call.agentId, url: call.url, setup },
      {
        message: (message) => this.#take(message),
        ended: () => this.#gone(),
        failed: (message) => this.#fail(message),
        isAnswering: () => this.#waiting !== undefined,
      },
    );
  }

  dtmf(digit: string): void {
    this.#queue.wentOn();
    if (this.#isGone) this.#take(END);
    this.#link.send({ type: 'dtmf', digit });
  }

  interrupted(utteranceUntilInterrupt: string, durationMs: number): void {
    this.#link.send({
      type: 'interrupt',
      utteranceUntilInterrupt,
      durationUntilInterruptMs: Math.round(durationMs),
    });
  }

  onUnprompted(callback: () => void): void {
    this.#unprompted = callback;
    this.#lookForMore();
  }

  onPreempted(callback: () => void): void {
    this.#preempted = callback;
  }

  answered(): void {
    this.#lookForMore();
  }

  onManner(callback: (manner: AnswerManner) => void): void {
    this.#manner = callback;
  }

  callerSpoke(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || !this.#isResting || this.#queue.hasPieces) return;
    this.#finish(waiting);
    this.#wake();
  }

  close(): void {
    this.#link.close();
    this.#waiting = undefined;
    this.#wake();
  }

  reply({ config, items, signal }: LlmRequest): LlmReply {
    const prompt = this.#unsentWords(items);
    const waiting: Waiting = {
      prompt,
      startedAtMs: this.#deps.clock.monotonicMs(),
      hasBegun: false,
      pauses: 0,
    };
    this.#waiting = waiting;
    if (prompt !== undefined) {
      this.#isPreemptible = false;
      this.#queue.asked();
      if (this.#isGone) this.#take(END);
      const lang = config.transcriptionLanguage ?? 'en-US';
      this.#link.send({ type: 'prompt', voicePrompt: prompt, lang, last: true });
    }
    const abandon = () => this.#abandon(waiting);
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
    return {
      next: () => this.#next(waiting),
      tokens: NO_TOKENS,
      cut: undefined,
    };
  }

  /** Returns the caller's words since the last answer that were not sent to the application yet, without notes. */
  #unsentWords(items: readonly ConversationItem[]): string | undefined {
    const turns = spokenTurns(items);
    const from = turns.findLastIndex(({ role }) => role === 'assistant') + 1;
    const asked: readonly SpokenTurn[] = turns
      .slice(from)
      .filter(({ content }) => !isNote(content));
    const unsent = asked.filter(({ id }) => !this.#sentIds.has(id));
    this.#sentIds = new Set(asked.map(({ id }) => id));
    if (unsent.length === 0) return undefined;
    return unsent.map(({ content }) => content).join(' ');
  }

  async #next(waiting: Waiting): Promise<LlmPiece | undefined> {
    while (this.#waiting === waiting) {
      const entry = this.#queue.next();
      if (entry === 'last') break;
      if (entry !== undefined) {
        waiting.hasBegun = true;
        waiting.pauses = 0;
        this.#rests(false);
        return entry;
      }
      if (this.#failure !== undefined) {
        this.#finish(waiting);
        throw this.#failure;
      }
      const isNothing = waiting.prompt === undefined && !waiting.hasBegun;
      if (isNothing || this.#queue.isEnded) break;
      if (await this.#wordCame(waiting)) continue;
      if (waiting.hasBegun && ++waiting.pauses === PAUSES_MS.length) break;
      if (!waiting.hasBegun) {
        this.#finish(waiting);
        throw new StageFailed('llm_refused', 'The relay application took too long to answer.');
      }
      this.#rests(waiting.pauses === PAUSES_MS.length - 1);
      return { kind: 'pause', isLong: waiting.pauses > 1 };
    }
    this.#finish(waiting);
    return undefined;
  }

  /** Waits for a message of the application. Returns false when none comes in time. */
  async #wordCame({ hasBegun, pauses, startedAtMs }: Waiting): Promise<boolean> {
    const { clock } = this.#deps;
    const answerMs = startedAtMs + relayAnswerMs - clock.monotonicMs();
    const ms = hasBegun ? (PAUSES_MS[pauses] ?? 0) : answerMs;
    let timer: TimerHandle | undefined;
    const came = await new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(true);
      timer = clock.setTimeout(() => resolve(false), ms);
    });
    clock.clearTimeout(timer as TimerHandle);
    return came;
  }

  #take(message: RelayMessage): void {
    this.#heed(message);
    const isAwaited = this.#waiting !== undefined;
    const hadPieces = this.#queue.hasPieces;
    if (!this.#queue.take(message, isAwaited)) {
      this.#link.close();
      this.#fail('The relay application says more than is taken.');
    } else if (isAwaited) {
      this.#wake();
    } else if (!hadPieces) {
      this.#lookForMore();
    }
  }

  /** Stores how an answer may be cut short. The next answer cuts a preemptible answer short. */
  #heed(message: RelayMessage): void {
    const { isInterruptible, isPreemptible } = message;
    if (message.kind === 'text' && message.token === '') {
      this.#isOver ||= message.isLast;
      return;
    }
    if (message.kind === 'action' && isPreemptible === undefined) return;
    if (this.#isOver && this.#isPreemptible) {
      this.#preempted?.();
      this.#queue.preempt();
    }
    this.#isOver = message.kind === 'action' || message.isLast;
    this.#isPreemptible = isPreemptible ?? false;
    this.#isInterruptible = isInterruptible ?? true;
    this.#tellManner();
  }

  #gone(): void {
    this.#isGone = true;
    this.#take(END);
  }

  /** Drops the rest of an answer, because the caller goes on. */
  #abandon(waiting: Waiting): void {
    if (this.#waiting !== waiting) return;
    this.#queue.abandon();
    this.#finish(waiting);
    this.#wake();
  }

  #finish(waiting: Waiting): void {
    if (this.#waiting !== waiting) return;
    this.#waiting = undefined;
    this.#rests(false);
    this.#lookForMore();
  }

  #rests(isResting: boolean): void {
    if (this.#isResting === isResting) return;
    this.#isResting = isResting;
    this.#tellManner();
  }

  #tellManner(): void {
    this.#manner?.({ mayBeInterrupted: this.#isInterruptible, isResting: this.#isResting });
  }

  #fail(message: string): void {
    this.#failure ??= new StageFailed('llm_refused', message);
    this.#wake();
    this.#lookForMore();
  }

  /**
   * Makes the call request an answer when unsent words or a failure wait. Runs in a microtask, after the work of its caller.
   */
  #lookForMore(): void {
    queueMicrotask(() => {
      const isOwed = this.#queue.hasPieces || this.#failure !== undefined;
      if (isOwed && this.#waiting === undefined) this.#unprompted?.();
    });
  }
}
