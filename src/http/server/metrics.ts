import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { Labels, Metrics } from '../../platform/tracing/metrics.ts';

export type MetricsRegistry = Metrics & {
  readonly contentType: string;
  /** Returns all metrics in the Prometheus text form. */
  render(): Promise<string>;
};

/** Creates the process's one collection of metrics, with Node's own metrics when `withProcess` is set. */
export function createMetrics(options: { readonly withProcess: boolean }): MetricsRegistry {
  const register = new Registry();
  const registers = [register];
  // Node's metrics include the event loop delay; 10 ms is the finest precision that is worth its cost.
  if (options.withProcess) collectDefaultMetrics({ register, eventLoopMonitoringPrecision: 10 });

  const put = (series: Series) => {
    register.registerMetric(series as unknown as Metric);
  };

  return {
    contentType: register.contentType,
    render: () => register.metrics(),
    counter(name, help, labels = []) {
      const tallies = new Tallies(labels, 1);
      const head = { name, help, type: 'counter', aggregator: 'sum' };
      const get = () => ({ ...head, values: tallies.values() });
      put({ name, help, type: 'counter', get });
      return { add: (amount, given) => tallies.add(given, 0, amount) };
    },
    gauge(name, help, labelNames = []) {
      const gauge = new Gauge({ name, help, labelNames: [...labelNames], registers });
      return { set: (value, labels = {}) => gauge.set(labels, value) };
    },
    watch(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    histogram(name, help, buckets, labels = []) {
      // One place per bucket, one for values beyond all buckets, and one for the sum.
      const tallies = new Tallies(labels, buckets.length + 2);
      const head = { name, help, type: 'histogram', aggregator: 'sum' };
      const get = () => ({ ...head, values: tallies.histogramValues(name, buckets) });
      put({ name, help, type: 'histogram', get });
      return {
        observe(value, given) {
          const place = buckets.findIndex((limit) => value <= limit);
          tallies.add(given, place === -1 ? buckets.length : place, 1);
          tallies.add(given, buckets.length + 1, value);
        },
      };
    },
  };
}

/** Members of a metric that the registry renders. */
type Series = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  readonly get: () => { readonly values: readonly Value[] };
};

type Value = { readonly value: number; readonly labels: Labels; readonly metricName?: string };

/**
 * Sums of a metric by its label values, with one look-up for each step. The library's own counters hash and check labels at
 * every step, which costs more than the whole pipeline of a request.
 */
class Tallies {
  readonly #names: readonly string[];
  readonly #width: number;
  readonly #rows = new Map<string, { readonly labels: Labels; readonly sums: number[] }>();

  constructor(names: readonly string[], width: number) {
    this.#names = names;
    this.#width = width;
    if (names.length === 0) this.#row('', {});
  }

  add(labels: Labels | undefined, place: number, amount: number): void {
    let key = '';
    for (const name of this.#names) key += `${labels?.[name] ?? ''}\n`;
    const { sums } = this.#rows.get(key) ?? this.#row(key, labels ?? {});
    sums[place] = (sums[place] ?? 0) + amount;
  }

  values(): Value[] {
    return [...this.#rows.values()].map(({ labels, sums }) => ({ labels, value: sums[0] ?? 0 }));
  }

  histogramValues(name: string, buckets: readonly number[]): Value[] {
    return [...this.#rows.values()].flatMap(({ labels, sums }) => {
      let count = 0;
      const below = [...buckets, '+Inf'].map((le, place) => {
        count += sums[place] ?? 0;
        return {
          value: count,
          labels: { ...labels, le: String(le) },
          metricName: `${name}_bucket`,
        };
      });
      const sum = sums[buckets.length + 1] ?? 0;
      return [
        ...below,
        { value: sum, labels, metricName: `${name}_sum` },
        { value: count, labels, metricName: `${name}_count` },
      ];
    });
  }

  #row(key: string, labels: Labels) {
    const row = { labels: { ...labels }, sums: new Array<number>(this.#width).fill(0) };
    this.#rows.set(key, row);
    return row;
  }
}
