-- The policies that an agent spends under, its own and its team's, in id order, and how well its outcomes were
-- over each of the windows that they look at. Every hold's agent is read by it: its plan is kept, where a function in SQL
-- is planned at each call.
CREATE OR REPLACE FUNCTION living_policies(agent integer, account text, OUT policies json, OUT quality json)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
  WITH living AS (
    SELECT p.* FROM policies p
    WHERE p.revoked_at IS NULL AND (p.agent_id = agent OR (p.agent_id IS NULL AND p.account_id = account))
      AND extract(epoch FROM statement_timestamp()) < least(coalesce(p.expires_at, 9007199254740991),
                                                        coalesce(p.effective_until, 9007199254740991)))
  SELECT
    (SELECT json_agg(json_build_object('id', p.id, 'agent_id', p.agent_id, 'kind', p.kind,
       'match_key', p.match_key, 'match_kind', p.match_kind, 'limit_raw', p.limit_raw::text,
       'limit_floor_raw', p.limit_floor_raw::text, 'limit_ceiling_raw', p.limit_ceiling_raw::text,
       'window_kind', p.window_kind, 'window_seconds', p.window_seconds,
       'calendar_unit', p.calendar_unit, 'effective_from', p.effective_from,
       'effective_until', p.effective_until, 'expires_at', p.expires_at, 'action', p.action,
       'quality_throttle_floor_bps', p.quality_throttle_floor_bps,
       'quality_window_seconds', p.quality_window_seconds, 'reserves', p.reserves, 'label', p.label,
       'starts_at_ms', floor(extract(epoch FROM p.starts_at) * 1000))
       ORDER BY p.id) FROM living p),
    (SELECT json_agg(json_build_object('seconds', w.seconds, 'bps', (
       SELECT floor(avg(coalesce(o.score_bps, CASE o.status WHEN 'success' THEN 10000
                                              WHEN 'partial' THEN 5000 ELSE 0 END)))::integer
       FROM (SELECT r.status, r.score_bps FROM action_outcomes r
             -- Not clock_timestamp(), which would have every outcome looked at: no index takes what may change.
             WHERE r.agent_id = agent AND r.reported_at > statement_timestamp() - make_interval(secs => w.seconds)
             ORDER BY r.reported_at DESC LIMIT 10000) AS o)))
     FROM (SELECT DISTINCT p.quality_window_seconds AS seconds FROM living p
           WHERE p.quality_throttle_floor_bps IS NOT NULL) AS w)
  INTO policies, quality;
END $$;
