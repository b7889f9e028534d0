import { z } from 'zod';
import { RawAmount } from './raw-amount.ts';

export const SessionLimitBody = z.object({ limitRaw: RawAmount });

const NoSessionLimit = z.object({
  active: z.literal(false),
  limitRaw: z.null(),
  sessionStartedAt: z.null(),
});

export const ActiveSessionLimit = z.object({
  active: z.literal(true),
  limitRaw: z.string(),
  sessionStartedAt: z.string(),
  sessionSpentRaw: z.string(),
  sessionRemainingRaw: z.string(),
});

export const SessionLimitView = z.union([ActiveSessionLimit, NoSessionLimit]);

export const ClearedSessionLimit = z.object({
  active: z.literal(false),
  limitRaw: z.null(),
  status: z.literal('cleared'),
});

export const ModeBody = z.object({ mode: z.enum(['off', 'host', 'vendor', 'both']) });

export const ModeSet = ModeBody.extend({
  warning: z
    .object({
      code: z.literal('no_active_entries'),
      dimensions: z.array(z.enum(['host', 'vendor'])),
    })
    .optional(),
});

export const Lock = z.object({ locked: z.boolean() });
