export type Fields = Readonly<Record<string, unknown>>;

/** A refusal the caller may read. Anything else that is thrown is a bug: logged whole, answered 500. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The wire `error` string, spelled exactly as the specification spells it. */
  readonly error: string;
  /** Further members of the body, such as `available` and `required`. */
  readonly fields: Fields;
  /** Response headers that go out with the refusal, such as `Retry-After`; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    error: string,
    options: { fields?: Fields; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(error, { cause: options.cause });
    this.status = status;
    this.error = error;
    this.fields = options.fields ?? {};
    this.headers = options.headers ?? {};
  }
}
