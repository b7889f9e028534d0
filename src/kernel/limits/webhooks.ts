/** Webhooks of developers (spec, Limits; contract A §14). */
export const WEBHOOK_LIMITS = {
  statsDays: 30,
} as const;
