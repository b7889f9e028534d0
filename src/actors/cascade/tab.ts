import type { Bought } from '../realtime/legs.ts';

/** Something that a session buys while its turns go on. */
export type TabLine = {
  /** Nothing more is bought on it. */
  readonly isOver: boolean;
  /** What it has come to. Undefined: nothing. */
  bought(): Bought | undefined;
};

/** Everything that a session has bought and nobody has been billed for, each thing once. */
export class Tab {
  #lines: TabLine[] = [];

  open(line: TabLine): void {
    this.#lines.push(line);
  }

  /** Something whose price is known already. */
  add(bought: Bought): void {
    this.open({ isOver: true, bought: () => bought });
  }

  /** What is over; it is billed now. */
  take(): Bought[] {
    const over = this.#lines.filter(({ isOver }) => isOver);
    this.#lines = this.#lines.filter((line) => !over.includes(line));
    return over.flatMap((line) => line.bought() ?? []);
  }
}
