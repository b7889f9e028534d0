import { z } from 'zod';
import type { AgentCaller, DeveloperCaller } from '../http/route/caller.ts';
import { isStorable } from '../kernel/storable.ts';
import { SPEND_LIMITS } from '../spend/limits.ts';
import type { ControlsScope } from '../spend/policies/change-controls.ts';
import { RawAmount } from './raw-amount.ts';
import { RowId } from './row-id.ts';

export const PolicyParams = z.object({ policyId: RowId });
export const AgentPolicyParams = z.object({ agentId: RowId, policyId: RowId });
export const PolicyQuery = z.object({
  includeRevoked: z
    .string()
    .optional()
    .transform((text) => text === 'true' || text === '1'),
});

const UnixSeconds = z.number().int().min(0).max(SPEND_LIMITS.policy.unixSeconds).nullish();
const Bps = z.number().int().min(0).max(SPEND_LIMITS.policy.qualityBps).nullish();
const secondsWithin = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z.number().int().min(min).max(max).nullish();

/** Members of a policy that may be set when it is made and whenever it is changed. */
const bounds = {
  limitFloorRaw: RawAmount.nullish(),
  limitCeilingRaw: RawAmount.nullish(),
  windowSeconds: secondsWithin(SPEND_LIMITS.policy.windowSeconds),
  effectiveFrom: UnixSeconds,
  effectiveUntil: UnixSeconds,
  action: z.enum(['block', 'suspend_agent']).nullish(),
  label: z
    .string()
    .max(SPEND_LIMITS.policy.labelChars)
    .refine(isStorable, { message: 'may hold no NUL and no half of a surrogate pair' })
    .nullish(),
  qualityThrottleFloorBps: Bps,
  qualityWindowSeconds: secondsWithin(SPEND_LIMITS.policy.qualityWindowSeconds),
};

const made = {
  ...bounds,
  matchKey: z.string().min(1).max(SPEND_LIMITS.policy.matchKeyChars).nullish(),
  matchKind: z.enum(['host_exact', 'host_suffix', 'recipient']).nullish(),
  limitRaw: RawAmount,
  calendarUnit: z.enum(['day', 'week', 'month']).nullish(),
  expiresAt: UnixSeconds,
};

/** A cap on one agent's spending. */
export const PolicyBody = z.object({
  ...made,
  kind: z.enum(['task', 'api', 'vendor']),
  windowKind: z.enum(['rolling', 'calendar', 'once']).nullish(),
});

/** A cap on the spending of all agents together, for one kind of target or for everything. */
export const TeamPolicyBody = z.object({
  ...made,
  kind: z.enum(['task', 'api', 'vendor', 'session']),
  windowKind: z.enum(['rolling', 'calendar', 'once', 'session']).nullish(),
});

const fixed = z.never({ error: 'cannot be changed; make another policy' }).optional();

/** Change of a policy: an absent member stays, null clears it. The match, the kind of window and the expiry never change. */
export const PolicyEditBody = z.object({
  ...bounds,
  limitRaw: RawAmount.optional(),
  kind: fixed,
  matchKey: fixed,
  matchKind: fixed,
  windowKind: fixed,
  calendarUnit: fixed,
  expiresAt: fixed,
});

/** A policy in the form that every route returns. */
const PolicyRow = z.object({
  id: z.number(),
  scope: z.enum(['agent', 'developer']),
  agentId: z.number().optional(),
  kind: z.enum(['task', 'api', 'vendor', 'session']),
  matchKey: z.string().nullable(),
  matchKind: z.enum(['host_exact', 'host_suffix', 'recipient']).nullable(),
  limitRaw: z.string(),
  limitFloorRaw: z.string().nullable(),
  limitCeilingRaw: z.string().nullable(),
  windowKind: z.enum(['rolling', 'calendar', 'once', 'session']),
  windowSeconds: z.number().nullable(),
  calendarUnit: z.enum(['day', 'week', 'month']).nullable(),
  expiresAt: z.number().nullable(),
  effectiveFrom: z.number().nullable(),
  effectiveUntil: z.number().nullable(),
  action: z.enum(['block', 'suspend_agent']),
  status: z.enum(['active', 'expired', 'revoked']),
  label: z.string().nullable(),
  qualityThrottleFloorBps: z.number().nullable(),
  qualityWindowSeconds: z.number().nullable(),
  reserves: z.boolean(),
  createdAt: z.string(),
  spentRaw: z.string().nullable(),
  remainingRaw: z.string().nullable(),
});

export const OnePolicy = z.object({ policy: PolicyRow });
export const ManyPolicies = z.object({ policies: z.array(PolicyRow) });
export const RevokedPolicy = z.object({ status: z.literal('revoked') });

/** Returns the scope of the calling agent's own controls. */
export const ownScope = ({ accountId, agentId }: AgentCaller) =>
  ({ accountId, agentId, by: 'agent' }) as const;

/** Returns the scope of one agent of the calling developer. */
export const agentScope = ({ accountId }: DeveloperCaller, { agentId }: { agentId: number }) =>
  ({ accountId, agentId, by: 'developer' }) as const;

/** Returns the scope of a policy over all agents of the calling developer together. */
export const teamScope = ({ accountId }: DeveloperCaller): ControlsScope => ({
  accountId,
  agentId: null,
  by: 'developer',
});
