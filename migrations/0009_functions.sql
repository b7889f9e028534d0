CREATE OR REPLACE FUNCTION write_companions(companions jsonb, standing boolean[], node text, lease integer)
RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
  correction record;
BEGIN
  IF companions ? 'sessions' THEN
    INSERT INTO sessions (id, agent_id, key_id, kind, target, model, account, task_id, action_id,
                          customer_id, node_id, lease_epoch)
    SELECT x.id, x.agent, x.key, x.kind, x.target, x.model, x.account, x.task, x.action,
           x.customer, node, lease
    FROM jsonb_to_recordset(companions -> 'sessions') AS x(op integer, id text, agent integer,
         key integer, kind text, target text, model text, account text, task text, action text,
         customer text)
    WHERE standing[x.op];
  END IF;
  IF companions ? 'journal' THEN
    -- A repeat after a lost connection finds its own line.
    INSERT INTO session_journal (session_id, seq, epoch, cost_raw, usage)
    SELECT x.session, x.seq, x.epoch, x.cost, decode(x.usage, 'hex')
    FROM jsonb_to_recordset(companions -> 'journal') AS x(op integer, session text, seq integer,
         epoch integer, cost bigint, usage text)
    WHERE standing[x.op]
    ON CONFLICT DO NOTHING;
  END IF;
  IF companions ? 'ends' THEN
    UPDATE sessions s SET ended_at = now(), end_reason = x.reason, summary = x.summary
    FROM jsonb_to_recordset(companions -> 'ends') AS x(op integer, id text, reason text, summary jsonb)
    WHERE standing[x.op] AND s.id = x.id;
  END IF;
  IF companions ? 'charges' THEN
    INSERT INTO charges (agent_id, posting_id, key_id, target_url, target_host, method, status,
                         cost_raw, model, rail, usage, task_id, action_id, customer_id, session_id,
                         payee, response_status_code, latency_ms, overhead_ms, upstream_ms, created_at)
    SELECT x.agent, x.posting, x.key, x.url, x.host, x.method, x.status, x.cost, x.model, x.rail,
           x.usage, x.task, x.action, x.customer, x.session, x.payee, x.code, x.latency,
           -- Not when the sql transaction began: it may have waited for its rows since.
           x.overhead, x.upstream, clock_timestamp()
    FROM jsonb_to_recordset(companions -> 'charges') AS x(op integer, agent integer, posting text,
         key integer, url text, host text, method text, status text, cost bigint, model text,
         rail text, usage jsonb, task text, action text, customer text, session text,
         payee text, code integer, latency integer, overhead integer, upstream integer)
    WHERE standing[x.op];
    -- Reports read sums, and never count rows. An agent's rows are guarded by its own, which is locked.
    INSERT INTO spend_totals AS s (agent_id, day, model, rail, calls, failed, cost_raw)
    SELECT x.agent, (clock_timestamp() AT TIME ZONE 'UTC')::date, coalesce(x.model, ''), coalesce(x.rail, ''),
           count(*), count(*) FILTER (WHERE x.status = 'failed'), sum(x.cost)
    FROM jsonb_to_recordset(companions -> 'charges') AS x(op integer, agent integer, model text,
         rail text, status text, cost bigint)
    WHERE standing[x.op] GROUP BY 1, 3, 4
    ON CONFLICT (agent_id, day, model, rail) DO UPDATE
    SET calls = s.calls + excluded.calls, failed = s.failed + excluded.failed,
        cost_raw = s.cost_raw + excluded.cost_raw;
    INSERT INTO action_totals AS a (agent_id, action_id, calls, spent_raw, first_seen, last_seen)
    SELECT x.agent, x.action, count(*), coalesce(sum(x.cost) FILTER (WHERE x.status = 'success'), 0),
           now(), now()
    FROM jsonb_to_recordset(companions -> 'charges') AS x(op integer, agent integer, action text,
         status text, cost bigint)
    WHERE standing[x.op] AND x.action IS NOT NULL GROUP BY 1, 2
    ON CONFLICT (agent_id, action_id) DO UPDATE
    SET calls = a.calls + excluded.calls, spent_raw = a.spent_raw + excluded.spent_raw,
        last_seen = greatest(a.last_seen, excluded.last_seen);
  END IF;
  IF companions ? 'reservations' THEN
    INSERT INTO reservations (nonce, hold_id, agent_id, key_id, wallet, payee, value_raw, valid_before,
                              signature, x402_version, network, target_url, target_host, method,
                              task_id, action_id, customer_id)
    SELECT x.nonce, x.hold, x.agent, x.key, x.wallet, x.payee, x.value, x.valid_before, x.signature,
           x.version, x.network, x.url, x.host, x.method, x.task, x.action, x.customer
    FROM jsonb_to_recordset(companions -> 'reservations') AS x(op integer, nonce text, hold text,
         agent integer, key integer, wallet text, payee text, value bigint, valid_before bigint,
         signature text, version smallint, network text, url text, host text, method text,
         task text, action text, customer text)
    WHERE standing[x.op];
  END IF;
  IF companions ? 'moves' THEN
    -- What is not told stays as it was.
    UPDATE reservations r
    SET state = x.state, refused = r.refused OR x.refused, tx_hash = coalesce(x.tx, r.tx_hash),
        response_status_code = coalesce(x.code, r.response_status_code),
        latency_ms = coalesce(x.latency, r.latency_ms),
        -- An answer that comes at once is written without a step of its own for the sending.
        sent_at = CASE x.state WHEN 'sent' THEN clock_timestamp()
                  WHEN 'pending_settlement' THEN
                    coalesce(r.sent_at, clock_timestamp() - coalesce(x.latency, 0) * interval '1 millisecond')
                  ELSE r.sent_at END,
        decided_at = CASE WHEN x.decided THEN clock_timestamp() ELSE r.decided_at END,
        corrected_at = CASE WHEN x.corrected THEN clock_timestamp() ELSE r.corrected_at END
    FROM jsonb_to_recordset(companions -> 'moves') AS x(op integer, nonce text, state text,
         refused boolean, tx text, code integer, latency integer, decided boolean, corrected boolean)
    WHERE standing[x.op] AND r.nonce = x.nonce;
  END IF;
  IF companions ? 'payouts' THEN
    INSERT INTO payouts (nonce, agent_id, kind, wallet, payee, amount_raw)
    SELECT x.nonce, x.agent, x.kind, x.wallet, x.payee, x.amount
    FROM jsonb_to_recordset(companions -> 'payouts') AS x(op integer, nonce text, agent integer,
         kind text, wallet text, payee text, amount bigint)
    WHERE standing[x.op];
  END IF;
  IF companions ? 'paid' THEN
    UPDATE payouts p SET state = 'done', tx_hash = x.tx, done_at = clock_timestamp()
    FROM jsonb_to_recordset(companions -> 'paid') AS x(op integer, nonce text, tx text)
    WHERE standing[x.op] AND p.nonce = x.nonce;
  END IF;
  IF companions ? 'reports' THEN
    -- A call that a voice platform was paid for: one row a call, and a line for each change of its cost.
    INSERT INTO platform_calls AS c (agent_id, provider, call_id, revision, cost_raw, rank, said_at_ms, seen, told,
                                     host, task_id, customer_id, duration_seconds, counted_at)
    SELECT x.agent, x.provider, x.call, x.revision, x.cost, x.rank, x.said, x.seen, x.told,
           x.host, x.task, x.customer, x.duration, timestamptz 'epoch' + x.counted * interval '1 millisecond'
    FROM jsonb_to_recordset(companions -> 'reports') AS x(op integer, agent integer, provider text, call text,
         revision integer, cost bigint, rank smallint, said bigint, seen text[], told text[], host text, task text,
         customer text, duration integer, counted bigint)
    WHERE standing[x.op]
    ON CONFLICT (agent_id, provider, call_id) DO UPDATE
    SET revision = excluded.revision, cost_raw = excluded.cost_raw, rank = excluded.rank,
        said_at_ms = excluded.said_at_ms, seen = excluded.seen, told = excluded.told,
        duration_seconds = coalesce(excluded.duration_seconds, c.duration_seconds), updated_at = clock_timestamp();
    INSERT INTO reconciled_events (agent_id, digest, at, kind, model_or_tool, cost_raw, source, calls, task_id, customer_id)
    SELECT x.agent, x.digest, timestamptz 'epoch' + x.counted * interval '1 millisecond', 'call', x.host, x.by,
           x.provider, x.calls, x.task, x.customer
    FROM jsonb_to_recordset(companions -> 'reports') AS x(op integer, digest text, agent integer, provider text,
         by bigint, calls smallint, host text, task text, customer text, counted bigint)
    WHERE standing[x.op] AND (x.calls > 0 OR x.by <> 0);
    -- Reports add what has changed.
    INSERT INTO reconciled_changes (agent_id, day, source, host, customer, task, calls, cost_raw)
    SELECT x.agent, ((timestamptz 'epoch' + x.counted * interval '1 millisecond') AT TIME ZONE 'UTC')::date,
           x.provider, x.host, coalesce(x.customer, ''), coalesce(x.task, ''), x.calls, x.by
    FROM jsonb_to_recordset(companions -> 'reports') AS x(op integer, agent integer, provider text,
         by bigint, calls integer, host text, task text, customer text, counted bigint)
    WHERE standing[x.op] AND (x.calls > 0 OR x.by <> 0);
    -- The caller has locked these counters. A bucket that has left its window counts no more, and none falls below zero.
    FOR correction IN
      SELECT t.policy, t.bucket, x.by AS amount
      FROM jsonb_to_recordset(companions -> 'reports') AS x(op integer, by bigint, team jsonb),
           jsonb_to_recordset(x.team) AS t(policy integer, bucket bigint)
      WHERE standing[x.op] LOOP
      UPDATE team_counters c
      SET buckets[correction.bucket % cardinality(c.buckets) + 1] =
            greatest(0, c.buckets[correction.bucket % cardinality(c.buckets) + 1] + correction.amount)
      WHERE c.policy_id = correction.policy
        AND correction.bucket <= c.head AND correction.bucket > c.head - cardinality(c.buckets);
    END LOOP;
  END IF;
  IF companions ? 'suspends' THEN
    -- Whoever decided it has counted on the rules to move by one for each.
    UPDATE agent_funds f SET rules_version = f.rules_version + x.times
    FROM (SELECT r.agent, count(*) AS times
          FROM jsonb_to_recordset(companions -> 'suspends') AS r(op integer, agent integer)
          WHERE standing[r.op] GROUP BY r.agent) AS x
    WHERE f.agent_id = x.agent;
    UPDATE agents a SET status = 'suspended', suspended_reason = 'policy:' || x.policy, updated_at = now()
    FROM jsonb_to_recordset(companions -> 'suspends') AS x(op integer, agent integer, policy integer)
    WHERE standing[x.op] AND a.id = x.agent AND a.status = 'active';
    INSERT INTO invalidations (kind, agent_id)
    SELECT 'agent_stopped', x.agent
    FROM jsonb_to_recordset(companions -> 'suspends') AS x(op integer, agent integer)
    WHERE standing[x.op];
  END IF;
  IF companions ? 'thresholds' THEN
    UPDATE credit_thresholds t SET last_state = x.state, last_fired_at = now()
    FROM jsonb_to_recordset(companions -> 'thresholds') AS x(op integer, id integer, state text)
    WHERE standing[x.op] AND t.id = x.id;
  END IF;
  IF companions ? 'events' THEN
    INSERT INTO events (name, account_id, agent_wallet, correlation_id, webhook_id, payload)
    SELECT x.name, x.account, x.wallet, x.correlation, x.webhook, x.payload
    FROM jsonb_to_recordset(companions -> 'events') AS x(op integer, name text, account text,
         wallet text, correlation text, webhook integer, payload jsonb)
    WHERE standing[x.op]
    -- Of payments that are settled side by side, each was the first when it was looked.
    ON CONFLICT DO NOTHING;
  END IF;
  IF companions ? 'acts' THEN
    INSERT INTO admin_acts (act, target, detail, request_id, client_address)
    SELECT x.act, x.target, x.detail, x.request, x.address
    FROM jsonb_to_recordset(companions -> 'acts') AS x(op integer, act text, target text,
         detail jsonb, request text, address text)
    WHERE standing[x.op];
  END IF;
END $$;
