import type { CallerFacts, ChatMessage, GuideEngine, TtsEngine } from '../../engines/engine.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { SessionTally } from '../session-tally.ts';
import { type Conversation, messagesOf } from './conversation.ts';
import type { SpokenText } from './heard-words.ts';
import type { Outlet } from './outlet.ts';
import type { ResponseRequest } from './response-request.ts';
import { ResponseWriter } from './response-writer.ts';
import type { TurnCap } from './turn-meter.ts';
import { type TurnOutcome, type TurnPrompt, VoiceTurn } from './voice-turn.ts';

/** Answers whose spoken words are remembered, so that they can still be cut to what was heard. */
const SPOKEN_KEPT = 16;
/** English has about as many characters to a token. */
const PROMPT_CHARS_PER_TOKEN = 4;

export type AnsweringDeps = {
  readonly guide: GuideEngine;
  readonly tts: TtsEngine;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly outlet: Outlet;
  readonly tally: Pick<SessionTally, 'answerBegan' | 'spoke'>;
  readonly conversation: Conversation;
  readonly conversationId: string;
  readonly cap: TurnCap;
  /** Resolves when everything said before is in the conversation. */
  readonly transcribed: () => Promise<void>;
  readonly callerFacts: () => Promise<CallerFacts>;
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
  start(request: ResponseRequest): void;
  /** A caller who speaks breaks off only what was meant for the conversation. */
  interrupt(reason: 'turn_detected' | 'client_cancelled'): void;
  /** Ends the response for a reason of the server's own. */
  stop(code: string, message: string): void;
  spoken(itemId: string): SpokenText | undefined;
}

export function createAnswering(deps: AnsweringDeps): Answering {
  const { clock, conversation, cap } = deps;
  const kept = new Map<string, SpokenText>();
  let writer: ResponseWriter | undefined;
  let turn: VoiceTurn | undefined;
  let isConversing = false;

  function remember(answer: ResponseWriter): void {
    if (answer.messageId === undefined || answer.spoken.durationMs === 0) return;
    kept.set(answer.messageId, answer.spoken);
    const oldest = kept.keys().next().value;
    if (kept.size > SPOKEN_KEPT && oldest !== undefined) kept.delete(oldest);
  }

  return {
    get activeId() {
      return turn?.responseId;
    },
    get isConversing() {
      return isConversing;
    },
    start(request) {
      const { config, metadata } = request;
      const begun = new ResponseWriter({
        outlet: deps.outlet,
        tally: deps.tally,
        conversation,
        conversationId: deps.conversationId,
        config,
        random: deps.random,
        metadata,
        isInConversation: request.isInConversation,
        outputCap: cap.outputTokens,
      });
      writer = begun;
      isConversing = request.isInConversation;
      const startedAtMs = clock.monotonicMs();
      let promptMs: number | undefined;
      turn = new VoiceTurn({
        ...deps,
        config,
        writer: begun,
        prompt: async () => {
          const ready = await promptOf(deps, request);
          promptMs = clock.monotonicMs() - startedAtMs;
          return ready;
        },
        finished: (outcome) => {
          turn = undefined;
          writer = undefined;
          isConversing = false;
          if (request.isInConversation) remember(begun);
          deps.finished({ writer: begun, outcome, promptMs, request });
        },
      });
      turn.start();
    },
    interrupt(reason) {
      if (isConversing || reason === 'client_cancelled') turn?.interrupt(reason);
    },
    stop: (code, message) => turn?.fail(code, message),
    spoken: (itemId) =>
      writer !== undefined && writer.messageId === itemId ? writer.spoken : kept.get(itemId),
  };
}

async function promptOf(
  deps: AnsweringDeps,
  { config, context }: ResponseRequest,
): Promise<TurnPrompt> {
  const [, facts] = await Promise.all([deps.transcribed(), deps.callerFacts()]);
  const { instructions } = config;
  const system: ChatMessage[] =
    instructions === '' ? [] : [{ role: 'system', content: instructions }];
  // By length and not by token: counting belongs to the engine's own thread, and bills are capped.
  const room = Math.max(0, deps.cap.inputTokens * PROMPT_CHARS_PER_TOKEN - instructions.length);
  const said = context === undefined ? deps.conversation.messages(room) : messagesOf(context, room);
  return { messages: [...system, ...said], facts };
}
