import { ACCOUNT_LIMITS } from '../../accounts/limits.ts';
import { CONFIG_LIMITS } from '../../config/limits.ts';
import { PHONE_LIMITS } from '../../phone/limits.ts';
import type { CallerBucket } from '../../rate-limit/rate-gate.ts';
import { SPEND_LIMITS } from '../../spend/limits.ts';
import { WEBHOOK_LIMITS } from '../../webhooks/limits.ts';

type Row = {
  readonly id: string;
  /** Words for people: what is limited. */
  readonly what: string;
  /** Callers that the limit binds. */
  readonly binds: 'agent' | 'developer';
  readonly beyond: string;
};

/** Limit of requests a minute. The number is the rate limit's own. */
export type RateRow = Row & { readonly bucket: CallerBucket['kind'] };

/** Limit of objects at a time. */
export type CountRow = Row & { readonly most: number };

export const RATE_ROWS: readonly RateRow[] = [
  {
    id: 'management_requests',
    what: 'requests of one developer key, or of the sessions and signatures of one account',
    binds: 'developer',
    bucket: 'key',
    beyond: '429 rate_limit_exceeded',
  },
  {
    id: 'webhook_tries',
    what: 'tests and manual retries of webhooks',
    binds: 'developer',
    bucket: 'try',
    beyond: '429 rate_limit_exceeded',
  },
  {
    id: 'number_searches',
    what: 'searches for telephone numbers',
    binds: 'developer',
    bucket: 'search',
    beyond: '429 rate_limit_exceeded',
  },
  {
    id: 'gateway_requests',
    what: 'requests to models that this server pays for',
    binds: 'agent',
    bucket: 'gateway',
    beyond: '429 rate_limited',
  },
  {
    id: 'byok_requests',
    what: "requests to models with the caller's own provider key",
    binds: 'agent',
    bucket: 'byok',
    beyond: '429 rate_limited',
  },
  {
    id: 'proxy_requests',
    what: 'calls through the proxy',
    binds: 'agent',
    bucket: 'proxy',
    beyond: '429 rate_limit_exceeded',
  },
  {
    id: 'ledger_uploads',
    what: 'uploads of purchases made elsewhere',
    binds: 'agent',
    bucket: 'ledger',
    beyond: '429 rate_limit_exceeded',
  },
  {
    id: 'control_requests',
    what: 'changes of spend controls, reports and reads of reports',
    binds: 'agent',
    bucket: 'control',
    beyond: '429 rate_limit_exceeded',
  },
];

export const COUNT_ROWS = {
  agents: {
    id: 'agents',
    what: 'open agents of one account',
    binds: 'developer',
    most: ACCOUNT_LIMITS.agent.perDeveloper,
    beyond: '409 limit_exceeded',
  },
  developerKeys: {
    id: 'developer_keys',
    what: 'working developer keys of one account',
    binds: 'developer',
    most: ACCOUNT_LIMITS.key.perAccount,
    beyond: '400 Limit exceeded',
  },
  webhooks: {
    id: 'webhooks',
    what: 'webhooks of one account',
    binds: 'developer',
    most: WEBHOOK_LIMITS.endpoint.perAccount,
    beyond: '409 limit_exceeded',
  },
  teamPolicies: {
    id: 'team_policies',
    what: 'policies in force for all agents of one account',
    binds: 'developer',
    most: SPEND_LIMITS.policy.perTeam,
    beyond: '409 limit_exceeded',
  },
  doNotCall: {
    id: 'do_not_call',
    what: 'numbers that one account must not call',
    binds: 'developer',
    most: PHONE_LIMITS.doNotCall.entries,
    beyond: '409 do_not_call_full',
  },
  accountCalls: {
    id: 'account_calls',
    what: 'calls of one account at a time, unless the operator has set another number',
    binds: 'developer',
    most: CONFIG_LIMITS.phone.concurrentCalls.account,
    beyond: '429 call_limit',
  },
  agentKeys: {
    id: 'agent_keys',
    what: 'working keys of one agent',
    binds: 'agent',
    most: ACCOUNT_LIMITS.key.perAgent,
    beyond: '409 limit_exceeded',
  },
  agentPolicies: {
    id: 'agent_policies',
    what: 'policies in force for one agent',
    binds: 'agent',
    most: SPEND_LIMITS.policy.perAgent,
    beyond: '409 limit_exceeded',
  },
  creditThresholds: {
    id: 'credit_thresholds',
    what: 'credit thresholds of one agent',
    binds: 'agent',
    most: SPEND_LIMITS.awareness.thresholdsPerAgent,
    beyond: '409 limit_exceeded',
  },
  agentBatches: {
    id: 'call_batches',
    what: 'batches of calls of one agent that are not over',
    binds: 'agent',
    most: PHONE_LIMITS.batch.openPerAgent,
    beyond: '429 batch_limit',
  },
  agentCalls: {
    id: 'agent_calls',
    what: 'calls of one agent at a time, unless the developer or the operator has set another number',
    binds: 'agent',
    most: CONFIG_LIMITS.phone.concurrentCalls.agent,
    beyond: '429 call_limit',
  },
} as const satisfies Readonly<Record<string, CountRow>>;

export type Counted = keyof typeof COUNT_ROWS;
