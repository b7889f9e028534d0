import { LIMITS } from '../kernel/limits.ts';
import type { GuideEngine, GuideReply } from './engine.ts';
import { answerSum } from './guide-arithmetic.ts';
import { askedFact, stateFact } from './guide-facts.ts';
import type { Retriever } from './guide-retrieve.ts';
import { answerTime } from './guide-time.ts';
import { countTokens, type Encoder, firstTokens } from './guide-tokens.ts';
import { chooseTool } from './guide-tool.ts';

export type GuideRequest = Parameters<GuideEngine['reply']>[0];

const ECHO_CHARS = 200;
const NOTHING_SAID = 'I did not hear a question. Ask me about your balance or this server.';
const WHAT_I_AM =
  'I am a built-in guide and no language model; ask me about your balance, your spending, or how this server works.';

/**
 * Answers the last thing said, always the same to the same: a tool that is clearly meant, a fact of
 * the caller's own, a sum, the time, what the corpus knows, and otherwise what was heard.
 */
export async function answerGuide(
  request: GuideRequest,
  retriever: Retriever,
  encoder: Encoder,
): Promise<GuideReply> {
  const said = await say(request, retriever);
  const asked = [
    ...request.messages.map(({ content }) => content),
    ...(request.tools ?? []).map(({ name, description }) => `${name} ${description}`),
  ];
  const inputTokens = asked.reduce((sum, text) => sum + countTokens(encoder, text), 0);
  if (said.toolCall !== undefined) {
    const { name, argumentsJson } = said.toolCall;
    const outputTokens = countTokens(encoder, name) + countTokens(encoder, argumentsJson);
    return { ...said, usage: { inputTokens, outputTokens } };
  }
  const text = firstTokens(encoder, said.text, Math.max(1, request.maxTokens));
  const isCut = text !== said.text;
  return { text, isCut, usage: { inputTokens, outputTokens: countTokens(encoder, text) } };
}

type Said = Omit<GuideReply, 'usage'>;

async function say(request: GuideRequest, retriever: Retriever): Promise<Said> {
  const last = request.messages.findLast(({ role }) => role === 'user' || role === 'tool');
  const heard = (last?.content ?? '').trim();
  // What comes last is most likely the question.
  const question = heard.slice(-LIMITS.engines.guideQuestionChars);
  if (last?.role === 'tool') return { text: `The tool answered: ${echo(heard)}` };
  if (!/[\p{L}\p{N}]/u.test(question)) return { text: NOTHING_SAID };

  const tool = chooseTool(question, request.tools ?? []);
  if (tool !== undefined) return { text: '', toolCall: { name: tool.name, argumentsJson: '{}' } };
  const fact = askedFact(question);
  if (fact !== undefined) return { text: stateFact(fact, request.facts) };
  const plain = answerSum(question) ?? answerTime(question, request.nowMs);
  if (plain !== undefined) return { text: plain };

  const found = await retriever.find(question);
  if (found === undefined) return { text: `I heard: ${echo(question)} ${WHAT_I_AM}` };
  const { answer } = found;
  return { text: typeof answer === 'string' ? answer : stateFact(answer.fact, request.facts) };
}

function echo(text: string): string {
  const short = [...text].slice(0, ECHO_CHARS).join('').trim();
  return /[.!?]$/.test(short) ? short : `${short}.`;
}
