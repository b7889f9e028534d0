import { z } from 'zod';
import { DEEPGRAM_LIMITS } from '../limits.ts';

const { eagerEot, eot, timeoutMs: eotTimeoutMs } = DEEPGRAM_LIMITS.turn;

const Eot = z.coerce.number().min(eot.min).max(eot.max);
const EagerEot = z.coerce.number().min(eagerEot.min).max(eagerEot.max);
const TimeoutMs = z.coerce.number().int().min(eotTimeoutMs.min).max(eotTimeoutMs.max);

/**
 * Settings that decide when a turn ends: https://developers.deepgram.com/docs/flux/configuration. Without an eager threshold
 * there are no `EagerEndOfTurn` events.
 */
export const TurnThresholds = z.object({
  eot_threshold: Eot.default(eot.usual),
  eager_eot_threshold: EagerEot.optional(),
  eot_timeout_ms: TimeoutMs.default(eotTimeoutMs.usual),
});

export type TurnThresholds = z.output<typeof TurnThresholds>;

/**
 * Returns true when the eager threshold is at most the threshold of the end of a turn. A later eager end would never be sent.
 */
export const areInOrder = ({ eager_eot_threshold, eot_threshold }: TurnThresholds): boolean =>
  eager_eot_threshold === undefined || eager_eot_threshold <= eot_threshold;

/** A message that changes settings in the middle of a stream: https://developers.deepgram.com/docs/flux/configure. */
const Configure = z.looseObject({
  thresholds: z
    .object({
      eot_threshold: Eot.optional(),
      eager_eot_threshold: EagerEot.nullish(),
      eot_timeout_ms: TimeoutMs.optional(),
    })
    .optional(),
  keyterms: z.union([z.string(), z.array(z.string()).max(DEEPGRAM_LIMITS.keyterms)]).nullish(),
  language_hints: z.array(z.string()).max(DEEPGRAM_LIMITS.keyterms).nullish(),
});

export type TurnSettings = {
  readonly thresholds: TurnThresholds;
  readonly keyterms: readonly string[];
};

/** Returns the settings that a message changes, without unknown members; undefined when it is no configure message. */
export function readConfigure(message: unknown) {
  const parsed = Configure.safeParse(message);
  if (!parsed.success) return undefined;
  const { keyterms, language_hints, thresholds } = parsed.data;
  const listed = typeof keyterms === 'string' ? [keyterms] : keyterms;
  return { keyterms: listed ?? undefined, language_hints, thresholds };
}

/** Returns the settings after a message. Undefined when the message is no configure message or nothing changes. */
export function configured(settings: TurnSettings, message: unknown): TurnSettings | undefined {
  const configure = readConfigure(message);
  if (configure === undefined) return undefined;
  const { keyterms = settings.keyterms, thresholds: asked = {} } = configure;
  const { eager_eot_threshold: eager, ...rest } = asked;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  const { eager_eot_threshold: before, ...kept } = settings.thresholds;
  const next = eager === undefined ? before : (eager ?? undefined);
  const thresholds: TurnThresholds = {
    ...kept,
    ...Object.fromEntries(given),
    ...(next !== undefined && { eager_eot_threshold: next }),
  };
  if (!areInOrder(thresholds)) return undefined;
  return { thresholds, keyterms };
}
