import type { Room } from '../../ledger/rules/hold-what-fits.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Model } from '../catalogue/catalogue.ts';
import type { TokenUsage } from '../providers/chat-rail.ts';
import type { Outcome } from '../providers/outcome.ts';
import type { PaymentMethod } from '../providers/payment-method.ts';
import type { Offer, Offers } from '../routing/plan-offers.ts';
import type { AnswerCap } from './receipt.ts';

/** Something that an agent wants of a model, and who could serve it. */
export type Order<R, T> = {
  readonly spender: Spender;
  readonly model: Model;
  /** Becomes the id of the hold. */
  readonly workId?: string | undefined;
  readonly offers: Offers<R>;
  /** Asks one of them, with so much set aside for it, or to be paid. Never rejects for what an upstream does. */
  readonly ask: (
    offer: Offer<R>,
    heldRaw: bigint,
    paymentMethod: PaymentMethod | undefined,
  ) => Promise<Outcome<T>>;
  /** The same for no more than the balance or a cap leaves, where less of it can be had. */
  readonly forLess?: (room: Room) => Order<R, T> | undefined;
  /** The least of it that is of use, where less can be had. */
  readonly atLeast?: () => Order<R, T>;
  /** Set where the length of the answer is bounded by more than its caller's word. */
  readonly answerCap?: AnswerCap | undefined;
  /** The most tokens that it can come to, where it is bought by them. */
  readonly mostTokens?: TokenUsage | undefined;
  /** The same from others, under a hold of its own, where none of these delivers. Throws the refusal. */
  readonly instead?: () => Promise<Order<R, T>>;
};
