import type { LineFigures } from './line-figures.ts';
import type { TurnLatency } from './turn-latency.ts';
import { countWords } from './turn-record.ts';

/** A turn of a call in the form that its row has. */
export type StoredTurn = {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** The part that the peer heard before it interrupted; null when the peer heard all. */
  readonly heard: string | null;
  readonly latency: TurnLatency | null;
  readonly at: Date;
};

/** Statistics of one span of the latency chain, over all answers of a call. */
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
  /** Statistics of each latency span, over all answers. */
  readonly latency: Readonly<Partial<Record<keyof TurnLatency, SpanSummary>>>;
  /** Latencies of the latest answers, at most `ANSWERS_KEPT`, oldest first. */
  readonly answers: readonly TurnLatency[];
  /** Line figures, one entry for each process that had the line and could store them. */
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

/** Number of answers whose latency is kept separately. */
const ANSWERS_KEPT = 100;

/** Summarizes a call from its turns and from the figures of its media lines. */
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

/**
 * Counts the answers that the peer interrupted. Answers cut at the end of a call, with no turn after them, were cut by that end
 * and do not count.
 */
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
