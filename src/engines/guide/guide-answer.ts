import { isoTime } from '../../kernel/clock.ts';
import {
  type ChatMessage,
  EngineInputRefused,
  type GuideEngine,
  type GuideReply,
  type GuideTool,
} from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { countTokens, type Encoder, firstTokens } from '../text/tokens.ts';
import { fillSchema, SchemaRefused } from './fill-schema.ts';
import { answerSum } from './guide-arithmetic.ts';
import { askedFact, stateFact } from './guide-facts.ts';
import { sayResults } from './guide-result.ts';
import type { Retriever } from './guide-retrieve.ts';
import { chooseTool } from './guide-tool.ts';
import { withoutAgentBlocks } from './without-agent-blocks.ts';

export type GuideRequest = Parameters<GuideEngine['reply']>[0];

const ECHO_CHARS = 200;
/** Number of first characters by which a sentence is recognised. */
const RECOGNISED_CHARS = 20;
const NOTHING_SAID = 'I did not hear a question. Ask me about your balance or this server.';
const WHAT_I_AM =
  'I am a built-in guide and no language model; ask me about your balance, your spending, or how this server works.';
/** Answer in place of `NOTHING_SAID` or `WHAT_I_AM` when the last two answers were that sentence already. */
const NOT_AGAIN = 'I still do not understand. You could ask: what is my balance?';

/**
 * Answers the last message. The same messages always get the same answer: the call of a clearly meant tool, a fact about the
 * caller, a sum, the time, an answer of the corpus, or else the words that were heard. JSON is filled in from the words of the
 * question.
 */
export async function answerGuide(
  request: GuideRequest,
  retriever: Retriever,
  encoder: Encoder,
): Promise<GuideReply> {
  const said = await say(request, retriever);
  const count = (text: string) => countTokens(encoder, text);
  const inputTokens = promptOf(request).reduce((sum, text) => sum + count(text), 0);
  const most = Math.max(1, request.maxTokens);
  if (said.toolCall !== undefined) {
    const outputTokens = count(said.toolCall.name) + count(said.toolCall.argumentsJson);
    if (outputTokens <= most) return { ...said, usage: { inputTokens, outputTokens } };
    // A tool call that is cut cannot be used, so none is returned.
    return { text: '', isCut: true, usage: { inputTokens, outputTokens: 0 } };
  }
  const allowed = firstTokens(encoder, said.text, most);
  const text = upToStop(allowed, request.stop ?? []);
  const isCut = text === allowed && allowed !== said.text;
  return { text, isCut, usage: { inputTokens, outputTokens: count(text) } };
}

/** Returns all texts of a request, whose tokens are counted. */
function promptOf({ format, messages, tools = [] }: GuideRequest): string[] {
  const schemas = [...tools.map(({ parameters }) => parameters), format?.schema];
  return [
    ...messages.map(({ content }) => content),
    ...tools.map((tool) => `${tool.name} ${tool.description}`),
    ...schemas.map((schema) => (schema === undefined ? '' : JSON.stringify(schema))),
  ];
}

function upToStop(text: string, stop: readonly string[]): string {
  const ends = stop.map((mark) => text.indexOf(mark)).filter((at) => at !== -1);
  return text.slice(0, Math.min(text.length, ...ends));
}

async function say(
  request: GuideRequest,
  retriever: Retriever,
): Promise<Pick<GuideReply, 'text' | 'toolCall'>> {
  const { format, messages, mustCall = false, nowMs, tools = [] } = request;
  const most = ENGINE_LIMITS.guide.questionChars;
  const lastAsked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  // The question is most likely at the end of the message.
  const question = withoutAgentBlocks(lastAsked).trim().slice(-most);
  const results = resultsOf(messages);

  const mayCall = results === undefined && hasWords(question);
  const tool = mustCall || mayCall ? chooseTool(question, tools, mustCall) : undefined;
  if (tool !== undefined) return { text: '', toolCall: callOf(tool, question, nowMs) };

  const text =
    results === undefined ? await prose(question, request, retriever) : sayResults(results, echo);
  if (format === undefined) return { text };
  if (format.schema === undefined) return { text: JSON.stringify({ answer: text }) };
  const heard = [question, ...(results ?? [])].join(' ').slice(-most);
  const place = format.place ?? 'response_format';
  const filled = refusing('The schema of the answer', place, () =>
    fillSchema(format.schema, { question: heard, answer: text, nowMs }),
  );
  return { text: JSON.stringify(filled) };
}

/** Returns the newest results of tools; undefined when the caller has asked something after them. */
function resultsOf(messages: readonly ChatMessage[]): string[] | undefined {
  if (messages.findLast(({ role }) => role === 'user' || role === 'tool')?.role !== 'tool') {
    return undefined;
  }
  const before = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(before + 1).map(({ content }) => content);
}

const hasWords = (text: string) => /[\p{L}\p{N}]/u.test(text);

async function prose(
  question: string,
  { facts, messages, nowMs }: GuideRequest,
  retriever: Retriever,
): Promise<string> {
  if (!hasWords(question)) return wasSaidTwice(messages, NOTHING_SAID) ? NOT_AGAIN : NOTHING_SAID;
  const fact = askedFact(question);
  if (fact !== undefined) return stateFact(fact, facts);
  const plain = answerSum(question) ?? answerTime(question, nowMs);
  if (plain !== undefined) return plain;
  const found = await retriever.find(question);
  if (found === undefined && wasSaidTwice(messages, WHAT_I_AM)) return NOT_AGAIN;
  if (found === undefined) return `I heard: ${echo(question)} ${WHAT_I_AM}`;
  const { answer } = found;
  return typeof answer === 'string' ? answer : stateFact(answer.fact, facts);
}

/**
 * Returns true when the last two answers both contain the first `RECOGNISED_CHARS` of `sentence`. A barge-in may have cut the
 * words after them.
 */
function wasSaidTwice(messages: readonly ChatMessage[], sentence: string): boolean {
  const answers = messages.filter(({ role }) => role === 'assistant').slice(-2);
  const begin = sentence.slice(0, RECOGNISED_CHARS);
  return answers.length === 2 && answers.every(({ content }) => content.includes(begin));
}

function callOf(
  { name, parameters = {}, place = 'tools' }: GuideTool,
  asked: string,
  nowMs: number,
) {
  const filled = refusing(`The schema of the tool "${name.slice(0, 64)}"`, place, () =>
    fillSchema(parameters, { question: asked, answer: '', nowMs }, 'object'),
  );
  return { name, argumentsJson: JSON.stringify(filled) };
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

const IN_UTC = { timeZone: 'UTC' } as const;

const WEEKDAY = new Intl.DateTimeFormat('en-GB', { ...IN_UTC, weekday: 'long' });

const DATE = new Intl.DateTimeFormat('en-GB', { ...IN_UTC, dateStyle: 'long' });

const ASKS_TIME = /\b(?:what(?: is|s)?(?: the)?(?: current)? time|time is it|the time now)\b/;

const ASKS_DATE =
  /\b(?:what(?: is|s)? (?:the |todays |the current )?date|(?:what|which) day|todays date|what year)\b/;

/** Returns the time or the date, in UTC, when the question asks for it; otherwise undefined. */
function answerTime(question: string, nowMs: number): string | undefined {
  const plain = question.toLowerCase().replace(/['’]/g, '');
  const today = `${WEEKDAY.format(nowMs)}, ${DATE.format(nowMs)}`;
  if (ASKS_TIME.test(plain)) return `It is ${isoTime(nowMs).slice(11, 16)} UTC on ${today}.`;
  if (ASKS_DATE.test(plain)) return `Today is ${today}.`;
  return undefined;
}
