/** Facts of an agent that its reputation is made of. */
export type ReputationFacts = {
  readonly ageDays: number;
  /** Charges so far, and those of them that failed. */
  readonly charges: number;
  readonly failed: number;
  /** Charges of the last 30 days, and calls that the balance did not cover. */
  readonly recentCharges: number;
  readonly shortfalls: number;
  /** Mean of the reported outcomes, 0 to 1. Null when no outcome was reported. */
  readonly meanOutcome: number | null;
  /** Suspensions of the last 30 days. */
  readonly suspensions: number;
};

export type Score = {
  /** 0 to 100. */
  readonly score: number;
  readonly band: 'A' | 'B' | 'C' | 'D' | 'E';
  /** 0 to 1: half at 100 charges. */
  readonly confidence: number;
  readonly modelVersion: string;
  readonly collateralMultiplierBps: number;
};

/** Version of the formula below. A change of the formula is a new version. */
const MODEL_VERSION = 'own-facts-1';

/** Points of each part, 100 together. */
const WEIGHTS = { settled: 40, outcomes: 20, funded: 15, age: 15, standing: 10 } as const;

const FULL_AGE_DAYS = 180;
const HALF_CONFIDENCE_CHARGES = 100;
const BANDS = [
  ['A', 85],
  ['B', 70],
  ['C', 55],
  ['D', 40],
] as const;

/** Computes the reputation of an agent with at least one charge. docs/api-behaviour/reports.md has the formula. */
export function scoreOf(facts: ReputationFacts): Score {
  const { charges, failed, meanOutcome, recentCharges, shortfalls, suspensions } = facts;
  const settled = (charges - failed) / charges;
  const parts = {
    settled,
    outcomes: meanOutcome ?? settled,
    funded: shortfalls === 0 ? 1 : 1 - shortfalls / (shortfalls + recentCharges),
    age: Math.min(1, facts.ageDays / FULL_AGE_DAYS),
    standing: 1 / (1 + suspensions),
  };
  const score = Math.round(
    WEIGHTS.settled * parts.settled +
      WEIGHTS.outcomes * parts.outcomes +
      WEIGHTS.funded * parts.funded +
      WEIGHTS.age * parts.age +
      WEIGHTS.standing * parts.standing,
  );
  return {
    score,
    band: BANDS.find(([, least]) => score >= least)?.[0] ?? 'E',
    confidence: Math.round((charges / (charges + HALF_CONFIDENCE_CHARGES)) * 100) / 100,
    modelVersion: MODEL_VERSION,
    collateralMultiplierBps: 10_000 + (100 - score) * 100,
  };
}
