import type { CutReason } from '../../../machines/voice-turn.ts';
import {
  type CallerFacts,
  type ChatMessage,
  EngineInputRefused,
  type GuideEngine,
  type LocalEngines,
} from '../../engines/engine.ts';
import { type OwnHold, settleOwn } from '../../engines/vad/own-hold.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import { MAIN_HOLD } from '../billing/session-holds.ts';
import { type TurnCap, turnReserveRaw, turnUsage } from '../billing/turn-meter.ts';
import { messagesOf } from './conversation.ts';
import { foreignSpeech } from './expected-speech.ts';
import type { SessionConfig } from './session-config.ts';
import { joinUtterances } from './turns/turn-so-far.ts';
import {
  type Llm,
  type LlmPiece,
  type LlmRequest,
  StageFailed,
  type VoicePipeline,
} from './voice-pipeline.ts';

/** Approximate number of characters per token of English. */
const PROMPT_CHARS_PER_TOKEN = 4;

/** Model id of the transcriber in sessions of the local engines. */
export const TRANSCRIBER = 'local/pocketsphinx';

type GuideDeps = {
  readonly guide: GuideEngine;
  readonly callerFacts: () => Promise<CallerFacts>;
  /** Holds of the session in which the guide answers. */
  readonly sessionHolds: OwnHold;
  readonly clock: Clock;
  readonly cap: TurnCap;
};

/** Returns a pipeline of this process's own engines, billed as one model. */
export function createLocalPipeline(
  deps: Omit<GuideDeps, 'guide'> & {
    readonly engines: Pick<LocalEngines, 'stt' | 'tts' | 'guide'>;
    readonly source: Source;
  },
): VoicePipeline {
  const { cap, engines, source } = deps;
  return {
    stt: () => engines.stt.pocketsphinx,
    llm: createGuideLlm({ ...deps, guide: engines.guide }),
    voice: engines.tts.flite,
    transcriberModel: () => TRANSCRIBER,
    problemOf: (config) => foreignSpeech(TRANSCRIBER, config),
    reserves: (_, outputTokens) => ({ [MAIN_HOLD]: turnReserveRaw(source, cap, outputTokens) }),
    takeBill: (use, requests) => [{ source, usage: turnUsage(source, use, requests) }],
    paymentsKnown: async () => {},
  };
}

/** Returns the built-in responder, whose whole answer is known at once. */
function createGuideLlm(deps: GuideDeps): Llm {
  return {
    reply(request) {
      let tokens = { input: 0, cached: 0, output: 0 };
      let pieces: LlmPiece[] | undefined;
      let cut: CutReason | undefined;
      return {
        async next() {
          if (pieces === undefined) {
            const answer = await ask(deps, request);
            tokens = {
              input: Math.min(answer.usage.inputTokens, deps.cap.inputTokens),
              cached: 0,
              output: Math.min(answer.usage.outputTokens, request.outputCap),
            };
            pieces = piecesOf(answer);
            cut = answer.isCut === true ? 'max_output_tokens' : undefined;
          }
          return pieces.shift();
        },
        get tokens() {
          return tokens;
        },
        get cut() {
          return cut;
        },
      };
    },
  };
}

type Answer = Awaited<ReturnType<GuideEngine['reply']>>;

async function ask(
  { callerFacts, cap, clock, guide, sessionHolds }: GuideDeps,
  { config, isPrompt, items, outputCap }: LlmRequest,
): Promise<Answer> {
  const { instructions } = config;
  const system: ChatMessage[] =
    instructions === '' ? [] : [{ role: 'system', content: instructions }];
  // The prompt is cut by its length: the engine's own thread counts tokens, and `cap` bounds the bill.
  const room = Math.max(0, cap.inputTokens * PROMPT_CHARS_PER_TOKEN - instructions.length);
  const request: Parameters<GuideEngine['reply']>[0] = {
    // A prompt to a silent caller passes no conversation, because the guide would answer its last message again.
    messages: [...system, ...messagesOf(isPrompt ? [] : joinUtterances(items), room)],
    facts: settleOwn(await callerFacts(), sessionHolds),
    tools: offeredTools(config),
    mustCall: mustCall(config),
    maxTokens: outputCap,
    nowMs: clock.now(),
  };
  try {
    return await guide.reply(request);
  } catch (error) {
    if (!(error instanceof EngineInputRefused)) throw error;
    throw new StageFailed('invalid_tool_schema', error.message, { cause: error });
  }
}

function piecesOf({ text, toolCall }: Answer): LlmPiece[] {
  return [
    ...(toolCall === undefined ? [] : [{ kind: 'call' as const, ...toolCall }]),
    ...(text === '' ? [] : [{ kind: 'text' as const, text }]),
  ];
}

type Choosing = Pick<SessionConfig, 'tools' | 'toolChoice'>;

/** Returns the tools that an answer may call. */
function offeredTools({ tools, toolChoice }: Choosing): SessionConfig['tools'] {
  if (toolChoice === 'none') return [];
  if (typeof toolChoice === 'string') return tools;
  return tools.filter(({ name }) => name === toolChoice.name);
}

/** Returns true when the client requires a tool call and offers a tool that can be called. */
const mustCall = (config: Choosing): boolean =>
  config.toolChoice !== 'auto' && offeredTools(config).length > 0;
