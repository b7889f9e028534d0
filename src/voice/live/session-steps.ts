import type { Ledger } from '../../ledger/rules/ledger.ts';

/** Steps of a voice session at the ledger: one before each call, and one after its answer. */
export type SessionStep =
  | 'opening'
  | 'opened'
  | 'extending'
  | 'extended'
  | 'journaling'
  | 'journaled'
  | 'closing'
  | 'closed';

/** Called at each step. The session waits for the returned promise. */
export type OnSessionStep = (step: SessionStep) => Promise<void> | undefined;

/** Wraps a ledger so that its sessions report their steps. */
export function tellSteps(ledger: Ledger, onStep: OnSessionStep): Ledger {
  const reported =
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
    openSession: reported(ledger.openSession, 'opening', 'opened'),
    extend: reported(ledger.extend, 'extending', 'extended'),
    journal: reported(ledger.journal, 'journaling', 'journaled'),
    closeSession: reported(ledger.closeSession, 'closing', 'closed'),
  };
}
