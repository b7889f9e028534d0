import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import { outputCapOf, type TurnRoom } from '../billing/turn-meter.ts';
import type { SessionTally } from '../live/session-tally.ts';
import type { SessionTrace } from '../live/session-trace.ts';
import type { TurnTrace } from '../live/turn-trace.ts';
import { Answer } from './answer.ts';
import { type AnswerRequest, readsConversation } from './answer-request.ts';
import type { Conversation, ConversationItem } from './conversation.ts';
import type { SpokenText } from './heard-words.ts';
import type { SessionConfig } from './session-config.ts';
import type { VoiceClient } from './voice-client.ts';
import type { Llm, Tts } from './voice-pipeline.ts';
import { VoiceTurn } from './voice-turn.ts';
import type { TurnOutcome } from './voice-turn-options.ts';

/** Number of answers whose spoken words are kept, because a client may still truncate them. */
const SPOKEN_KEPT = 16;

export type AnsweringDeps = {
  readonly llm: Llm;
  readonly voice: Tts;
  readonly trace?: SessionTrace | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly client: VoiceClient;
  readonly tally: Pick<SessionTally, 'answerBegan' | 'spoke'>;
  readonly conversation: Conversation;
  readonly cap: TurnRoom;
  /** Resolves when all words that the caller has said up to now are in the conversation. */
  readonly transcribed: () => Promise<void>;
  readonly finished: (answer: FinishedAnswer) => void;
};

export type FinishedAnswer = {
  readonly answer: Answer;
  readonly outcome: TurnOutcome;
  readonly promptMs: number | undefined;
  readonly request: AnswerRequest;
  /** Trace of the turn. It ends when the answer is billed. */
  readonly trace?: TurnTrace | undefined;
};

/** The answering half of a voice session: at most one answer at a time. */
export interface Answering {
  readonly activeId: string | undefined;
  /** True while an answer is in progress that belongs to the conversation. */
  readonly isConversing: boolean;
  /** True while the answer has not read the conversation. It will include everything said until it does. */
  readonly isUnread: boolean;
  /** True while the client has received nothing of the answer. */
  readonly isUnheard: boolean;
  start(request: AnswerRequest): void;
  /** Reports to the client an answer that it cancelled before the answer began. */
  skip(request: AnswerRequest): void;
  /** Begins an answer to `text`, which is likely all that the caller says. The answer is sent once a response is requested. */
  speculate(text: string, config: SessionConfig): void;
  /** Stops the answer in progress. A barge-in (`turn_detected`) stops only an answer that belongs to the conversation. */
  interrupt(reason: 'turn_detected' | 'client_cancelled'): void;
  /** Fails the answer because of an error of the server. */
  stop(code: string, message: string): void;
  spoken(itemId: string): SpokenText | undefined;
  /**
   * Returns the characters that the answer in progress has spoken since the last call. The answer's outcome contains the
   * characters after them.
   */
  takeSpokenChars(): number;
}

function createAnswer(deps: AnsweringDeps, request: AnswerRequest): Answer {
  const { outputTokens, mostOutputTokens } = deps.cap;
  const room = { outputCap: outputTokens, isShortened: outputTokens < mostOutputTokens };
  return new Answer({
    client: deps.client.createAnswer(request, room),
    tally: deps.tally,
    conversation: deps.conversation,
    random: deps.random,
    request,
  });
}

/** Creates the store of the spoken words of the latest answers. */
function createKept() {
  const kept = new Map<string, SpokenText>();
  return {
    of: (itemId: string) => kept.get(itemId),
    keep({ messageId, spoken }: Answer): void {
      if (messageId === undefined || spoken.durationMs === 0) return;
      kept.set(messageId, spoken);
      const oldest = kept.keys().next().value;
      if (kept.size > SPOKEN_KEPT && oldest !== undefined) kept.delete(oldest);
    },
  };
}

export function createAnswering(deps: AnsweringDeps): Answering {
  const kept = createKept();
  let answer: Answer | undefined;
  let turn: VoiceTurn | undefined;
  let isConversing = false;
  let isUnread = false;

  function start(request: AnswerRequest): void {
    const { config, isInConversation, isPrompt = false } = request;
    const begun = createAnswer(deps, request);
    answer = begun;
    isConversing = isInConversation;
    isUnread = readsConversation(request);
    const startedAtMs = deps.clock.monotonicMs();
    const trace = deps.trace?.answers(isUnread);
    let promptMs: number | undefined;
    turn = new VoiceTurn({
      llm: deps.llm,
      voice: deps.voice,
      clock: deps.clock,
      log: deps.log,
      client: deps.client,
      cap: deps.cap,
      config,
      isPrompt,
      answer: begun,
      trace,
      items: async () => {
        await deps.transcribed();
        promptMs = deps.clock.monotonicMs() - startedAtMs;
        isUnread = false;
        return request.context ?? deps.conversation.items;
      },
      finished: (outcome) => {
        turn = undefined;
        answer = undefined;
        isConversing = false;
        isUnread = false;
        if (isInConversation) kept.keep(begun);
        trace?.finished(outcome.cause, begun.id, deps.client.firstSoundAtMs);
        deps.finished({ answer: begun, outcome, promptMs, request, trace });
      },
    });
    turn.start();
  }
  return {
    get activeId() {
      return turn && answer?.id;
    },
    get isConversing() {
      return isConversing;
    },
    get isUnread() {
      return isUnread;
    },
    get isUnheard() {
      return isConversing && answer?.isEmpty === true;
    },
    start,
    skip: (request) => reportSkipped(deps, request),
    speculate(text, config) {
      if (turn === undefined) speculate(deps, text, config);
    },
    interrupt(reason) {
      if (isConversing || reason === 'client_cancelled') turn?.interrupt(reason);
    },
    stop: (code, message) => turn?.fail(code, message),
    takeSpokenChars: () => turn?.takeSpokenChars() ?? 0,
    spoken: (itemId) => (answer?.messageId === itemId ? answer.spoken : kept.of(itemId)),
  };
}

function reportSkipped(deps: AnsweringDeps, request: AnswerRequest): void {
  const skipped = createAnswer(deps, request);
  deps.client.batch(() => {
    skipped.created();
    skipped.finish({ kind: 'cancelled', reason: 'client_cancelled' }, '');
    skipped.done(undefined);
  });
}

function speculate(
  { llm, cap, conversation }: AnsweringDeps,
  text: string,
  config: SessionConfig,
): void {
  const said: ConversationItem = {
    id: '',
    type: 'message',
    role: 'user',
    status: 'completed',
    content: [{ type: 'speech', transcript: text }],
  };
  const items = [...conversation.items, said];
  llm.speculate?.({ config, items, outputCap: outputCapOf(cap, config) });
}
