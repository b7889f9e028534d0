import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { parseUsd } from '../../kernel/amount.ts';
import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject } from '../../kernel/json.ts';
import { isStorable } from '../../kernel/storable.ts';
import { SPEND_LIMITS } from '../limits.ts';

/** Purchase that an agent made outside of this server. */
export type SpendEvent = {
  /** Time of the purchase in microseconds since the Unix epoch. */
  readonly atMicros: number;
  readonly kind: 'llm' | 'tool';
  readonly modelOrTool: string;
  readonly costRaw: bigint;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly label: string | null;
};

/** Content of one line of an upload. `isReadable` is true when the line is a JSON object, whatever its fields. */
export type ReadLine =
  | { readonly kind: 'blank' }
  | { readonly kind: 'rejected'; readonly isReadable: boolean }
  | { readonly kind: 'event'; readonly event: SpendEvent };

const name = z.string().max(SPEND_LIMITS.sync.nameChars).refine(isStorable);
const tokens = z.number().int().min(0).max(SPEND_LIMITS.sync.tokens).nullish();

/** Fields of an event. A line with any other field is rejected. */
const Fields = z.strictObject({
  timestamp: z.number().or(z.iso.datetime({ offset: true, local: true })),
  kind: z.enum(['llm', 'tool']),
  model_or_tool: name.min(1),
  cost_usd: z.number().min(0),
  prompt_tokens: tokens,
  completion_tokens: tokens,
  label: name.nullish(),
  /** Amount that the client reserved beforehand, or only whether it did. It is accepted and not stored. */
  reserved: z.boolean().or(z.number()).nullish(),
});

/** Reads one line of NDJSON. Never throws, because a bad line must not lose the other lines. */
export function readLine(line: Buffer): ReadLine {
  if (isBlank(line)) return { kind: 'blank' };
  const text = isUtf8(line) ? line.toString('utf8') : '';
  const value = parseObject(text);
  if (value === undefined) return { kind: 'rejected', isReadable: false };

  const parsed = Fields.safeParse(value);
  const event = parsed.success ? eventOf(parsed.data, text) : undefined;
  return event === undefined ? { kind: 'rejected', isReadable: true } : { kind: 'event', event };
}

const isBlank = (line: Buffer): boolean =>
  line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);

function parseObject(text: string): object | undefined {
  const value = tryParseJson(text);
  return isObject(value) && !Array.isArray(value) ? value : undefined;
}

function eventOf(fields: z.output<typeof Fields>, text: string): SpendEvent | undefined {
  const costRaw = readCost(fields.cost_usd, text);
  const atMicros = readTime(fields.timestamp);
  if (costRaw === undefined || atMicros === undefined) return undefined;
  return {
    atMicros,
    kind: fields.kind,
    modelOrTool: fields.model_or_tool,
    costRaw,
    promptTokens: fields.prompt_tokens ?? null,
    completionTokens: fields.completion_tokens ?? null,
    label: fields.label ?? null,
  };
}

/**
 * Returns the price by its digits in the line when they are there, because a parsed number is a float that may lose half a
 * unit. Rounded half up, so that a price of less than half a unit is 0. Undefined above `SPEND_LIMITS.sync.costRaw`.
 */
function readCost(costUsd: number, text: string): bigint | undefined {
  const spelled = /"cost_usd"\s*:\s*(\d[\d.eE+-]*)/.exec(text)?.[1];
  // A different number in the text belongs to another member: the name is written with escapes, or occurs twice.
  const digits = spelled !== undefined && Number(spelled) === costUsd ? spelled : String(costUsd);
  const costRaw = parseUsd(digits);
  return costRaw === undefined || costRaw > SPEND_LIMITS.sync.costRaw ? undefined : costRaw;
}

const MICROS = 1_000_000;

/** Returns microseconds of a time in Unix seconds, with a fraction, or in ISO 8601. A time without a zone is read as UTC. */
function readTime(time: number | string): number | undefined {
  const micros = typeof time === 'number' ? Math.round(time * MICROS) : readIso(time);
  const { min, max } = SPEND_LIMITS.sync.timeSec;
  return micros >= min * MICROS && micros <= max * MICROS ? micros : undefined;
}

/** Returns microseconds since the Unix epoch. A `Date` ends at milliseconds, but clients may send more digits. */
function readIso(text: string): number {
  const [, toSecond = '', fraction = '', zone = 'Z'] =
    /^([^.Z+]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  return Date.parse(toSecond + zone) * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
