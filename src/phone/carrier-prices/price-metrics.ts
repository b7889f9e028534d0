import type { Metrics } from '../../platform/tracing/metrics.ts';
import type { PriceVerdict } from './compare-price.ts';

export type PriceMetrics = ReturnType<typeof createPriceMetrics>;

/** Creates the operator's metrics that compare the carriers' prices of calls with the charges of their lines. */
export function createPriceMetrics(metrics: Metrics) {
  const compared = metrics.counter(
    'svc_carrier_prices',
    'Calls whose carrier was asked for its price: it was covered by the charge of the line, exceeded it, or never came.',
    ['outcome'],
  );
  const excess = metrics.counter(
    'svc_carrier_excess_raw',
    'Raw USDC that carriers took for calls beyond what the line was charged with.',
  );
  const margin = metrics.counter(
    'svc_carrier_margin_raw',
    'Raw USDC that was charged for the line of calls beyond what carriers took.',
  );
  const durations = metrics.counter(
    'svc_carrier_durations_off',
    'Calls of which the carrier counts another duration than this server.',
  );
  return {
    compared({ excessRaw, isDurationOff, isExceeded }: PriceVerdict): void {
      compared.add(1, { outcome: isExceeded ? 'exceeded' : 'covered' });
      if (isExceeded) excess.add(Number(excessRaw));
      else margin.add(Number(-excessRaw));
      if (isDurationOff) durations.add(1);
    },
    gaveUp: (): void => compared.add(1, { outcome: 'unknown' }),
  };
}
