import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import { NO_USAGE, outputCapOf, type TurnRoom } from '../billing/turn-meter.ts';
import type { EventSender } from '../protocols/openai-realtime/event-sender.ts';
import {
  type ResponseRequest,
  readsConversation,
} from '../protocols/openai-realtime/response-request.ts';
import { ResponseWriter } from '../protocols/openai-realtime/response-writer.ts';
import type { SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import type { Conversation } from './conversation.ts';
import type { SpokenText } from './heard-words.ts';
import type { SessionTally } from './session-tally.ts';
import type { Llm, Tts } from './voice-pipeline.ts';
import { type TurnOutcome, VoiceTurn } from './voice-turn.ts';

/** Answers whose spoken words are remembered, so that they can still be cut to what was heard. */
const SPOKEN_KEPT = 16;

export type AnsweringDeps = {
  readonly llm: Llm;
  readonly voice: Tts;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly sender: EventSender;
  readonly tally: Pick<SessionTally, 'answerBegan' | 'spoke'>;
  readonly conversation: Conversation;
  readonly conversationId: string;
  readonly cap: TurnRoom;
  /** Resolves when everything said before is in the conversation. */
  readonly transcribed: () => Promise<void>;
  readonly finished: (answer: FinishedAnswer) => void;
};

export type FinishedAnswer = {
  readonly writer: ResponseWriter;
  readonly outcome: TurnOutcome;
  readonly promptMs: number | undefined;
  readonly request: ResponseRequest;
};

/** The answering half of a realtime session: at most one response at a time. */
export interface Answering {
  readonly activeId: string | undefined;
  /** A response is in progress that belongs to the conversation. */
  readonly isConversing: boolean;
  /** It has not read the conversation yet, and will answer whatever is said until then. */
  readonly isUnread: boolean;
  /** Nothing of it was told yet. */
  readonly isUnheard: boolean;
  start(request: ResponseRequest): void;
  /** Tells of a response that its client cancelled before it began. */
  skip(request: ResponseRequest): void;
  /** The caller has likely said so: the answer to it is begun, and told when it is asked for. */
  speculate(text: string, config: SessionConfig): void;
  /** A caller who speaks breaks off only what was meant for the conversation. */
  interrupt(reason: 'turn_detected' | 'client_cancelled'): void;
  /** Ends the response for a reason of the server's own. */
  stop(code: string, message: string): void;
  spoken(itemId: string): SpokenText | undefined;
}

const createWriter = (deps: AnsweringDeps, request: ResponseRequest): ResponseWriter =>
  new ResponseWriter({
    sender: deps.sender,
    tally: deps.tally,
    conversation: deps.conversation,
    conversationId: deps.conversationId,
    random: deps.random,
    config: request.config,
    metadata: request.metadata,
    isInConversation: request.isInConversation,
    outputCap: deps.cap.outputTokens,
    isShortened: deps.cap.outputTokens < deps.cap.mostOutputTokens,
  });

/** Remembers what was spoken of the latest answers. */
function createKept() {
  const kept = new Map<string, SpokenText>();
  return {
    of: (itemId: string) => kept.get(itemId),
    keep({ messageId, spoken }: ResponseWriter): void {
      if (messageId === undefined || spoken.durationMs === 0) return;
      kept.set(messageId, spoken);
      const oldest = kept.keys().next().value;
      if (kept.size > SPOKEN_KEPT && oldest !== undefined) kept.delete(oldest);
    },
  };
}

export function createAnswering(deps: AnsweringDeps): Answering {
  const { clock, conversation, cap } = deps;
  const kept = createKept();
  let writer: ResponseWriter | undefined;
  let turn: VoiceTurn | undefined;
  let isConversing = false;
  let isUnread = false;

  function start(request: ResponseRequest): void {
    const { config, isInConversation, isPrompt = false } = request;
    const begun = createWriter(deps, request);
    writer = begun;
    isConversing = isInConversation;
    isUnread = readsConversation(request);
    const startedAtMs = clock.monotonicMs();
    let promptMs: number | undefined;
    turn = new VoiceTurn({
      llm: deps.llm,
      voice: deps.voice,
      clock,
      log: deps.log,
      sender: deps.sender,
      cap,
      config,
      isPrompt,
      writer: begun,
      items: async () => {
        await deps.transcribed();
        promptMs = clock.monotonicMs() - startedAtMs;
        isUnread = false;
        return request.context ?? conversation.items;
      },
      finished: (outcome) => {
        turn = undefined;
        writer = undefined;
        isConversing = false;
        isUnread = false;
        if (isInConversation) kept.keep(begun);
        deps.finished({ writer: begun, outcome, promptMs, request });
      },
    });
    turn.start();
  }

  return {
    get activeId() {
      return turn?.responseId;
    },
    get isConversing() {
      return isConversing;
    },
    get isUnread() {
      return isUnread;
    },
    get isUnheard() {
      return isConversing && writer?.isEmpty === true;
    },
    start,
    skip: (request) => tellSkipped(deps, request),
    speculate(text, config) {
      if (turn === undefined) speculate(deps, text, config);
    },
    interrupt(reason) {
      if (isConversing || reason === 'client_cancelled') turn?.interrupt(reason);
    },
    stop: (code, message) => turn?.fail(code, message),
    spoken: (itemId) => (writer?.messageId === itemId ? writer.spoken : kept.of(itemId)),
  };
}

function tellSkipped(deps: AnsweringDeps, request: ResponseRequest): void {
  const skipped = createWriter(deps, request);
  deps.sender.batch(() => {
    skipped.created();
    skipped.finish({ kind: 'cancelled', reason: 'client_cancelled' }, '');
    skipped.done(NO_USAGE, {});
  });
}

function speculate(
  { llm, cap, conversation }: AnsweringDeps,
  text: string,
  config: SessionConfig,
): void {
  const said = { type: 'message', role: 'user', id: '', object: 'realtime.item' } as const;
  const content = [{ type: 'input_audio', transcript: text }] as const;
  const items = [...conversation.items, { ...said, status: 'completed' as const, content }];
  llm.speculate?.({ config, items, outputCap: outputCapOf(cap, config) });
}
