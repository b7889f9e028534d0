import type { Ledger } from '../../ledger/rules/ledger.ts';

/** Points on the way of a voice session: before each thing that it asks of the ledger, and behind its answer. */
export type SessionStep =
  | 'opening'
  | 'opened'
  | 'extending'
  | 'extended'
  | 'journaling'
  | 'journaled'
  | 'closing'
  | 'closed';

/** Hears of each step as it is passed; what it returns is waited for. */
export type OnSessionStep = (step: SessionStep) => Promise<void> | undefined;

/** The same ledger, whose sessions tell of their steps. */
export function tellSteps(ledger: Ledger, onStep: OnSessionStep): Ledger {
  const told =
    <Asked extends unknown[], Answer>(
      ask: (...asked: Asked) => Promise<Answer>,
      before: SessionStep,
      behind: SessionStep,
    ) =>
    async (...asked: Asked): Promise<Answer> => {
      await onStep(before);
      const answer = await ask(...asked);
      await onStep(behind);
      return answer;
    };
  return {
    ...ledger,
    openSession: told(ledger.openSession, 'opening', 'opened'),
    extend: told(ledger.extend, 'extending', 'extended'),
    journal: told(ledger.journal, 'journaling', 'journaled'),
    closeSession: told(ledger.closeSession, 'closing', 'closed'),
  };
}
