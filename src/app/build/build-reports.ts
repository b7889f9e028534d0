import { createSpendReports } from '../../reports/spend-reports.ts';
import type { World } from './world.ts';

/** Builds the sums that all reports are made of. */
export function buildReports({ sql }: World) {
  return { spendReports: createSpendReports({ sql }) };
}
