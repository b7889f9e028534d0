import { mayRetryAfter, refusal } from '../kernel/refusal.ts';

/** Refusals of reports. */
export const reportErrors = {
  invalidCursor: () =>
    refusal(
      400,
      'invalid_cursor',
      'cursor: use nextCursor of the page before, as it is, or leave it out to begin anew.',
    ),
  invalidWindow: () =>
    refusal(400, 'invalid_window', 'since must lie before until. Exchange them or leave one out.'),
  invalidTime: (name: string, text: string) =>
    refusal(
      400,
      'invalid_time',
      `${name}: "${text}" is no time. Send a day such as 2026-08-31, or a time such as 2026-08-31T12:00:00Z.`,
    ),
  invalidDays: (text: string, most: number) =>
    refusal(400, 'invalid_days', `days is "${text}"; it must be a whole number from 1 to ${most}.`),
  invalidGroupBy: (text: string, names: readonly string[]) =>
    refusal(
      400,
      'invalid_group_by',
      `groupBy is "${text}"; it must be one of ${names.join(', ')}.`,
    ),
  invalidPeriod: (name: string, text: string, names: readonly string[]) =>
    refusal(400, 'invalid_window', `${name} is "${text}"; it must be one of ${names.join(', ')}.`),
  noAgents: () =>
    refusal(404, 'not_found', 'This account has no agents yet. Create one, then look again.'),
  agentNotFound: () => refusal(404, 'not_found', 'There is no such agent.'),
  keyNotFound: () => refusal(404, 'Key not found', 'No agent of this account has such a key.'),
  exportTooLarge: (limit: number) =>
    refusal(
      413,
      'export_too_large',
      `More than ${limit} charges were made this month. Read GET /v1/developer/export.ndjson, which has no limit.`,
      { limit },
    ),
  exportRunning: (max: number) =>
    refusal(
      429,
      'export_running',
      `An account may have ${max} export at a time; wait until the one under way has ended.`,
      { max },
      mayRetryAfter(10),
    ),
  exportsBusy: () =>
    refusal(
      503,
      'exports_busy',
      'This server writes as many exports as it may; try again shortly.',
      {},
      mayRetryAfter(10),
    ),
  noReputationYet: (charges: number, least: number) =>
    refusal(
      404,
      'no_reputation_yet',
      `This agent has ${charges} charges; a reputation needs ${least}. Ask again when it has bought more.`,
      { charges, least },
    ),
};
