import type { CallerFacts, ChatMessage, GuideEngine, GuideReply } from '../../../engines/engine.ts';
import { settleOwn } from '../../../engines/vad/own-hold.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { nowSeconds } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import type { Random } from '../../../kernel/random.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { ChatCall, ChatOutcome, ChatRail } from '../chat-rail.ts';
import { streamOfWhole } from '../openai/whole-stream.ts';
import { engineFailure } from './engine-failure.ts';
import { readGuideParameters } from './guide-request.ts';

export type LocalGuideDeps = {
  readonly guide: GuideEngine;
  /** Facts about an agent that the guide may tell that agent. */
  readonly callerFacts: (agentId: number) => Promise<CallerFacts>;
  readonly clock: Clock;
  readonly random: Random;
};

/** Creates the rail of the built-in responder. */
export function createLocalGuideRail(deps: LocalGuideDeps): ChatRail {
  const { guide, callerFacts, clock, random } = deps;

  async function complete(call: ChatCall, signal: StopSignal): Promise<ChatOutcome> {
    try {
      const wanted = readGuideParameters(call.body);
      const { heldRaw, spentRaw = 0n } = call;
      const facts = settleOwn(await callerFacts(call.agentId), { heldRaw, spentRaw });
      if (signal.aborted) return { kind: 'aborted' };
      const reply = await guide.reply({
        messages: readMessages(call.body.messages),
        ...wanted,
        facts,
        maxTokens: outputCap(call.body),
        nowMs: clock.now(),
        agentId: call.agentId,
      });
      if (signal.aborted) return { kind: 'aborted' };
      return completed(reply, call, nowSeconds(clock), random);
    } catch (error) {
      return engineFailure(error, 'messages');
    }
  }

  return {
    complete,
    async stream(call, signal) {
      const whole = await complete(call, signal);
      if (whole.kind !== 'completed') return whole;
      return { kind: 'completed', status: whole.status, stream: streamOfWhole(whole, call.body) };
    },
  };
}

/** Returns the text of a message's content, which may be a string, a list of parts, or missing. Other parts are ignored. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

const ROLES: Readonly<Record<string, ChatMessage['role']>> = {
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  tool: 'tool',
};

function readMessages(messages: unknown): ChatMessage[] {
  if (!Array.isArray(messages)) return [];
  return messages.filter(isObject).map((message) => ({
    role: ROLES[String(message.role)] ?? 'user',
    content: textOf(message.content),
  }));
}

function outputCap(body: Json): number {
  const cap = body.max_completion_tokens ?? body.max_tokens;
  return typeof cap === 'number' ? cap : MODEL_LIMITS.tokens.usualOutput;
}

function completed(
  reply: GuideReply,
  call: ChatCall,
  created: number,
  random: Random,
): ChatOutcome {
  const { inputTokens } = reply.usage;
  const { n } = call.body;
  // The responder gives the same answer to the same request, so all `n` choices are equal.
  const answers = typeof n === 'number' ? n : 1;
  const outputTokens = reply.usage.outputTokens * answers;
  const choices = Array.from({ length: answers }, (_, index) => ({
    index,
    ...choiceOf(reply, random),
    logprobs: null,
  }));
  const body = {
    id: newId(random, 'chatcmpl-'),
    object: 'chat.completion',
    created,
    model: call.servedAs ?? call.model,
    choices,
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    },
  };
  return {
    kind: 'completed',
    status: 200,
    body: Buffer.from(JSON.stringify(body)),
    contentType: 'application/json',
    usage: { inputTokens, cachedTokens: 0, outputTokens },
    answerChars: reply.text.length * answers,
  };
}

function choiceOf({ isCut, text, toolCall }: GuideReply, random: Random) {
  if (toolCall === undefined) {
    return {
      message: { role: 'assistant', content: text, refusal: null },
      finish_reason: isCut === true ? 'length' : 'stop',
    };
  }
  const call = {
    id: newId(random, 'call_'),
    type: 'function',
    function: { name: toolCall.name, arguments: toolCall.argumentsJson },
  };
  return {
    message: {
      role: 'assistant',
      content: text === '' ? null : text,
      refusal: null,
      tool_calls: [call],
    },
    finish_reason: 'tool_calls',
  };
}
