/** SQL types of the columns that rows are sorted by. */
export type KeyType = 'bigint' | 'integer' | 'text' | 'timestamptz';

/** Rows of one table that belong to an account, and how they are read page by page. */
export type Section = {
  /** Value of `type` in each line. */
  readonly type: string;
  readonly table: string;
  /** Column that names the owner: an agent of the account, or the account itself. */
  readonly owner: 'agent_id' | 'account_id' | 'id';
  /** Columns that are written. No column with a secret, a digest or a signature is listed. */
  readonly columns: readonly string[];
  /** Columns that sort the rows of one owner, and tell them apart. */
  readonly key: readonly (readonly [column: string, type: KeyType])[];
};

/** Columns of a key that may be shown. */
export const KEY_COLUMNS = [
  'id',
  'prefix',
  'label',
  'permissions',
  'rotated_from',
  'created_at',
  'last_used_at',
  'revoked_at',
];

/** Returns the words of a text, for lists of columns. */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/);
