/** Metrics as an argument: code counts its work without knowing the collector. */

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(amount: number, labels?: Labels): void;
}

export interface Gauge {
  set(value: number, labels?: Labels): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

/**
 * Registry of metrics. Each name is declared once per process. Label values come from small closed sets, never from callers.
 */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  gauge(name: string, help: string, labels?: readonly string[]): Gauge;
  /** Declares a gauge without labels. `read` returns its value and is called when the metrics are collected. */
  watch(name: string, help: string, read: () => number): void;
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: readonly string[],
  ): Histogram;
}

/** Registry that records nothing. */
export const noMetrics: Metrics = {
  counter: () => ({ add() {} }),
  gauge: () => ({ set() {} }),
  watch() {},
  histogram: () => ({ observe() {} }),
};
