-- Whether a spending counts under a policy: what src/policy/match.ts decides, for what was spent before.
CREATE OR REPLACE FUNCTION policy_matches(kind text, match_key text, match_kind text,
                               key_root integer, task text, host text, payee text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(CASE kind
    WHEN 'session' THEN true
    WHEN 'task' THEN task = match_key
    WHEN 'key' THEN key_root::text = match_key
    WHEN 'vendor' THEN payee = match_key
    WHEN 'api' THEN CASE
      WHEN match_kind = 'host_exact' THEN host = match_key
      ELSE host = ltrim(match_key, '.') OR right(host, length(ltrim(match_key, '.')) + 1) = '.' || ltrim(match_key, '.')
    END
  END, false)
$$;
