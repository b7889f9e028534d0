import type { Queryable } from '../../platform/postgres/sql.ts';

type Type = 'integer' | 'smallint' | 'bigint' | 'boolean' | 'text' | 'text[]' | 'bigint[]' | 'json';
type Value = string | number | bigint | boolean | null;

/** A value with its type, or what the database is to find out for itself. */
export type Cell = readonly [type: Type, value: Value] | { readonly sql: string };

export const text = (value: string | null): Cell => ['text', value];
export const integer = (value: number | null): Cell => ['integer', value];
export const bigint = (value: bigint | number | null): Cell => ['bigint', value];

/**
 * One statement that moves one agent's row if it is as it was, and writes everything else only if it did. The same kind
 * of work makes the same text, so that the database plans each kind once a connection.
 */
export class AloneStatement {
  readonly #values: Value[] = [];
  #clauses = '';

  /** The place of a value in the text. */
  cell(cell: Cell): string {
    if ('sql' in cell) return cell.sql;
    const [type, value] = cell;
    const place = `$${this.#values.push(value)}`;
    // The driver would write a value that the server calls JSON as JSON once more.
    return type === 'json' ? `${place}::text::jsonb` : `${place}::${type}`;
  }

  /** Moves the agent's row; everything that is added afterwards follows from that. */
  moveAgent(set: string, where: readonly string[]): void {
    this.#clauses = `with agent as (
      update agent_funds f set version = f.version + 1, ${set}
      where ${where.join(' and ')} returning f.agent_id)`;
  }

  /** One more row, where the agent's row has moved. */
  insert(table: string, columns: Readonly<Record<string, Cell>>, onConflict = ''): void {
    const cells = Object.values(columns).map((cell) => this.cell(cell));
    this.#add(`insert into ${table} (${Object.keys(columns).join(', ')})
      select ${cells.join(', ')} from agent ${onConflict}`);
  }

  /** A change of other rows; it must look at `agent`, which has a row only where the agent's has moved. */
  change(clause: string): void {
    this.#add(clause);
  }

  #add(clause: string): void {
    this.#clauses += `, c${this.#values.length} as (${clause})`;
  }

  /** Whether the agent's row has moved, and all the rest was written with it. */
  async run(sql: Queryable): Promise<boolean> {
    const statement = `${this.#clauses} select 1 from agent`;
    const rows = await sql.unsafe(statement, this.#values as never[], { prepare: true });
    return rows.length > 0;
  }
}
