import { LIMITS } from '../../kernel/limits.ts';
import {
  type ChatMessage,
  EngineInputRefused,
  type GuideEngine,
  type GuideReply,
  type GuideTool,
} from '../engine.ts';
import { answerSum } from './guide-arithmetic.ts';
import { askedFact, stateFact } from './guide-facts.ts';
import { tellResults } from './guide-result.ts';
import type { Retriever } from './guide-retrieve.ts';
import { answerTime } from './guide-time.ts';
import { countTokens, type Encoder, firstTokens } from './guide-tokens.ts';
import { chooseTool, nearestTool } from './guide-tool.ts';
import { fillSchema } from './schema/fill-schema.ts';
import { readQuestion } from './schema/question-words.ts';
import { SchemaRefused } from './schema/schema-work.ts';

export type GuideRequest = Parameters<GuideEngine['reply']>[0];

const ECHO_CHARS = 200;
const NOTHING_SAID = 'I did not hear a question. Ask me about your balance or this server.';
const WHAT_I_AM =
  'I am a built-in guide and no language model; ask me about your balance, your spending, or how this server works.';

/**
 * Answers the last thing said, always the same to the same: a tool that is clearly meant, a fact of
 * the caller's own, a sum, the time, what the corpus knows, and otherwise what was heard. What is to be JSON is filled
 * in by what was asked.
 */
export async function answerGuide(
  request: GuideRequest,
  retriever: Retriever,
  encoder: Encoder,
): Promise<GuideReply> {
  const said = await say(request, retriever);
  const inputTokens = promptOf(request).reduce((sum, text) => sum + countTokens(encoder, text), 0);
  const most = Math.max(1, request.maxTokens);
  if (said.toolCall !== undefined) {
    const { name, argumentsJson } = said.toolCall;
    const outputTokens = countTokens(encoder, name) + countTokens(encoder, argumentsJson);
    // A part of a call is none.
    if (outputTokens > most)
      return { text: '', isCut: true, usage: { inputTokens, outputTokens: 0 } };
    return { ...said, usage: { inputTokens, outputTokens } };
  }
  const allowed = firstTokens(encoder, said.text, most);
  const text = upToStop(allowed, request.stop ?? []);
  const isCut = text === allowed && allowed !== said.text;
  return { text, isCut, usage: { inputTokens, outputTokens: countTokens(encoder, text) } };
}

type Said = Omit<GuideReply, 'usage'>;

/** All that a request says, for its tokens. */
function promptOf({ format, messages, tools = [] }: GuideRequest): string[] {
  const written = (schema: unknown) => (schema === undefined ? '' : JSON.stringify(schema));
  return [
    ...messages.map(({ content }) => content),
    ...tools.map((tool) => `${tool.name} ${tool.description}`),
    ...[...tools.map(({ parameters }) => parameters), format?.schema].map(written),
  ];
}

function upToStop(text: string, stop: readonly string[]): string {
  const ends = stop.map((mark) => text.indexOf(mark)).filter((at) => at !== -1);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

async function say(request: GuideRequest, retriever: Retriever): Promise<Said> {
  const { messages, format } = request;
  const last = messages.findLast(({ role }) => role === 'user' || role === 'tool');
  const asked = askedBy(messages);
  const tool = toolFor(request, last, asked);
  if (tool !== undefined) return { text: '', toolCall: callOf(tool, asked, request.nowMs) };
  const text = await prose(request, retriever, last);
  if (format === undefined) return { text };
  const heard = last?.role === 'tool' ? `${asked} ${resultsOf(messages).join(' ')}` : asked;
  return { text: formatted(request, heard.slice(-LIMITS.engines.guideQuestionChars), text) };
}

/** What the caller asked last. What comes last in it is most likely the question. */
const askedBy = (messages: readonly ChatMessage[]): string =>
  (messages.findLast(({ role }) => role === 'user')?.content ?? '')
    .trim()
    .slice(-LIMITS.engines.guideQuestionChars);

/** What tools have said since anybody else did. */
function resultsOf(messages: readonly ChatMessage[]): string[] {
  const before = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(before + 1).map(({ content }) => content);
}

function toolFor(
  { mustCall, tools = [] }: GuideRequest,
  last: ChatMessage | undefined,
  asked: string,
): GuideTool | undefined {
  if (mustCall === true) return nearestTool(asked, tools);
  return last?.role === 'tool' || !hasWords(asked) ? undefined : chooseTool(asked, tools);
}

const hasWords = (text: string) => /[\p{L}\p{N}]/u.test(text);

async function prose(
  { facts, messages, nowMs }: GuideRequest,
  retriever: Retriever,
  last: ChatMessage | undefined,
): Promise<string> {
  if (last?.role === 'tool') return tellResults(resultsOf(messages), echo);
  const question = askedBy(messages);
  if (!hasWords(question)) return NOTHING_SAID;
  const fact = askedFact(question);
  if (fact !== undefined) return stateFact(fact, facts);
  const plain = answerSum(question) ?? answerTime(question, nowMs);
  if (plain !== undefined) return plain;
  const found = await retriever.find(question);
  if (found === undefined) return `I heard: ${echo(question)} ${WHAT_I_AM}`;
  const { answer } = found;
  return typeof answer === 'string' ? answer : stateFact(answer.fact, facts);
}

function callOf(tool: GuideTool, asked: string, nowMs: number) {
  const { name, parameters = {}, place = 'tools' } = tool;
  const words = readQuestion(asked, '', nowMs);
  const filled = refusing(`The schema of the tool "${name.slice(0, 64)}"`, place, () =>
    fillSchema(parameters, words, 'object'),
  );
  return { name, argumentsJson: JSON.stringify(filled) };
}

/** The answer as JSON: by its schema, or in an object of its own. */
function formatted({ format, nowMs }: GuideRequest, asked: string, answer: string): string {
  if (format?.schema === undefined) return JSON.stringify({ answer });
  const words = readQuestion(asked, answer, nowMs);
  const place = format.place ?? 'response_format';
  return JSON.stringify(
    refusing('The schema of the answer', place, () => fillSchema(format.schema, words)),
  );
}

function refusing<T>(what: string, place: string, fill: () => T): T {
  try {
    return fill();
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error;
    throw new EngineInputRefused(`${what} ${error.message}.`, place);
  }
}

function echo(text: string): string {
  const short = [...text].slice(0, ECHO_CHARS).join('').trim();
  return /[.!?]$/.test(short) ? short : `${short}.`;
}
