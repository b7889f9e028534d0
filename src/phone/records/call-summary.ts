import type { LineFigures } from './line-figures.ts';
import type { TurnLatency } from './turn-latency.ts';
import { countWords } from './turn-record.ts';

/** A turn of a call as its row has it. */
export type StoredTurn = {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** The part that the other party heard before it interrupted; null: all of it. */
  readonly heard: string | null;
  readonly latency: TurnLatency | null;
  readonly at: Date;
};

/** One span of the latency chain over all answers of a call. */
export type SpanSummary = {
  readonly count: number;
  readonly meanMs: number;
  readonly maxMs: number;
};

/** Figures of a call that is over. */
export type CallSummary = {
  readonly turns: { readonly user: number; readonly assistant: number };
  readonly interruptions: number;
  readonly wordsSaid: number;
  readonly wordsHeard: number;
  /** Over all answers. */
  readonly latency: Readonly<Partial<Record<keyof TurnLatency, SpanSummary>>>;
  /** Latencies of the latest answers, at most `ANSWERS_KEPT`, oldest first. */
  readonly answers: readonly TurnLatency[];
  /** One for each process that had the line and could write it down. */
  readonly lines: readonly LineFigures[];
};

const SPANS: readonly (keyof TurnLatency)[] = [
  'waitMs',
  'transcriptMs',
  'firstTokenMs',
  'firstAudioMs',
  'firstFrameMs',
  'totalMs',
];

/** Answers whose latency is kept one by one. */
const ANSWERS_KEPT = 100;

/** Sums a call up from its turns, and from the lines that it had. */
export function summarize(
  turns: readonly StoredTurn[],
  lines: readonly LineFigures[],
): CallSummary {
  const answers = turns.filter(({ role }) => role === 'assistant');
  const chains = answers.flatMap(({ latency }) => (latency === null ? [] : [latency]));
  const spans = SPANS.map((span) => [span, spanOf(chains.map((chain) => chain[span]))]);
  return {
    turns: { user: turns.length - answers.length, assistant: answers.length },
    interruptions: interruptionsOf(turns),
    wordsSaid: sumOf(answers.map(({ content }) => countWords(content))),
    wordsHeard: sumOf(answers.map(({ content, heard }) => countWords(heard ?? content))),
    latency: chains.length === 0 ? {} : Object.fromEntries(spans),
    answers: chains.slice(-ANSWERS_KEPT),
    lines,
  };
}

/** Answers that the far side cut off. Those at the end of a call, behind which nothing was said, its end cut off. */
function interruptionsOf(turns: readonly StoredTurn[]): number {
  const isCut = ({ heard, role }: StoredTurn) => role === 'assistant' && heard !== null;
  const last = turns.findLastIndex((turn) => !isCut(turn));
  return turns.slice(0, last + 1).filter(isCut).length;
}

const spanOf = (values: readonly number[]): SpanSummary => ({
  count: values.length,
  meanMs: Math.round(sumOf(values) / values.length),
  maxMs: Math.max(...values),
});

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
