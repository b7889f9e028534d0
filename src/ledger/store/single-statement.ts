import type { Queryable } from '../../platform/postgres/sql.ts';

type Type = 'integer' | 'smallint' | 'bigint' | 'boolean' | 'text' | 'text[]' | 'bigint[]' | 'json';
type Value = string | number | bigint | boolean | null;

/** A value with its type. A cell that occurs several times in a statement is one parameter. */
export type Cell = readonly [type: Type, value: Value];

export const text = (value: string | null): Cell => ['text', value];
export const integer = (value: number | null): Cell => ['integer', value];
export const bigint = (value: bigint | number | null): Cell => ['bigint', value];

/** Cells that several clauses of one operation use. */
export type SharedCells = Readonly<Record<'agent' | 'posting' | 'hold' | 'amount', Cell>>;

/** Text of all statements with the same pieces, and the indexes of the cells that are its parameters. */
type Shape = { readonly text: string; readonly picks: readonly number[] };
/** Node in the tree of pieces. Pieces are literals of the source code, so that the tree is bounded by the code. */
type Step = { readonly next: Map<Piece, Step>; shape?: Shape };
type Piece = TemplateStringsArray;

const FIRST: Step = { next: new Map() };

/**
 * One statement, assembled from pieces of SQL. The same pieces make the same text, which is built once per process and planned
 * once per connection.
 */
export class SingleStatement {
  readonly #cells: Cell[] = [];
  readonly #pieces: Piece[] = [];
  #step = FIRST;

  /** Appends a piece of SQL with its cells. */
  add(piece: Piece, ...cells: readonly Cell[]): void {
    for (const cell of cells) this.#cells.push(cell);
    this.#pieces.push(piece);
    let step = this.#step.next.get(piece);
    if (step === undefined) {
      step = { next: new Map() };
      this.#step.next.set(piece, step);
    }
    this.#step = step;
  }

  /** Appends a clause with a name of its own. */
  clause(piece: Piece, ...cells: readonly Cell[]): void {
    this.open();
    this.add(piece, ...cells);
    this.close();
  }

  /** Begins a clause that consists of several pieces. */
  open(): void {
    this.add(OPEN);
  }

  close(): void {
    this.add(CLOSE);
  }

  /** Runs the statement. Resolves to true when it has returned a row. */
  async run(sql: Queryable): Promise<boolean> {
    this.#step.shape ??= shapeOf(this.#pieces, this.#cells);
    const { text, picks } = this.#step.shape;
    const values = picks.map((at) => (this.#cells[at] as Cell)[1]);
    const rows = await sql.unsafe(text, values as never[], { prepare: true });
    return rows.length > 0;
  }
}

const piece = (literal: Piece): Piece => literal;
const OPEN = piece`, named as (`;
const CLOSE = piece`)`;

function shapeOf(pieces: readonly Piece[], cells: readonly Cell[]): Shape {
  const places = new Map<Cell, string>();
  const picks: number[] = [];
  let text = '';
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    for (const [i, sql] of piece.entries()) {
      if (i > 0) {
        const cell = cells[at] as Cell;
        if (!places.has(cell)) places.set(cell, placeOf(cell, picks.push(at)));
        text += places.get(cell);
        at++;
      }
      text += piece === OPEN ? `, c${index} as (` : sql;
    }
  }
  return { text, picks };
}

/**
 * Returns the placeholder of a cell. JSON is passed as text, because the driver would encode a JSON parameter a second time.
 */
const placeOf = ([type]: Cell, number: number): string =>
  type === 'json' ? `$${number}::text::jsonb` : `$${number}::${type}`;
