-- Reservations and payouts move in the commit that moves the money, and an agent's row says what its wallet holds.

DROP FUNCTION apply_batch;
--> statement-breakpoint
DROP FUNCTION write_companions;
--> statement-breakpoint

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
       'quality_window_seconds', p.quality_window_seconds, 'reserves', p.reserves, 'label', p.label)
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
--> statement-breakpoint

-- Rows that ride with a posting. `standing[op]` says whether the operation is written at all. It runs, and is planned,
-- under the settings of `apply_batch`, which calls it.
CREATE FUNCTION write_companions(companions jsonb, standing boolean[], node text, lease integer)
RETURNS void LANGUAGE plpgsql
AS $$
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
    UPDATE sessions s SET ended_at = now(), end_reason = x.reason
    FROM jsonb_to_recordset(companions -> 'ends') AS x(op integer, id text, reason text)
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
    INSERT INTO events (name, account_id, agent_wallet, correlation_id, payload)
    SELECT x.name, x.account, x.wallet, x.correlation, x.payload
    FROM jsonb_to_recordset(companions -> 'events') AS x(op integer, name text, account text,
         wallet text, correlation text, payload jsonb)
    WHERE standing[x.op]
    -- Of payments that are settled side by side, each was the first when it was looked.
    ON CONFLICT DO NOTHING;
  END IF;
END $$;
--> statement-breakpoint

-- Parts (p_) are one agent each, in ascending order; operations (o_) name their part by number and
-- are numbered from 1 (one without debits is only looked for); hold changes (h_), counts under policies of a
-- team (t_, in the order of their operations) and guards (g_) name their operation. An array that is null has
-- nothing in it; counters that are null stay as they are. Of what was sent before (`resent`) a copy may still be on its
-- way. A part stands whole or not at all. Only parts that do not stand come back, with the
-- present state of their agent (no version: there is no such agent) and a letter an operation; one that
-- stands has moved its row by exactly what it said, since its version was the row's.
--   d  the same posting stands already (details: what left the agent by it), or without a posting: its row is where
--      it leaves it
--   c  another posting stands under this id, or was written with another payment
--   r  the id stands earlier in this batch
--   l  the guard failed: somebody else has taken the row over
--   m  the hold is not open at the amount named (details: the amount it is open at, or null)
--   t  a cap of the team would be crossed (details: the policy; spent: what counts under it)
--   s  nothing wrong with it, but its part does not stand: decide again
CREATE FUNCTION apply_batch(
  p_agent integer[], p_version bigint[], p_size integer[],
  p_spendable bigint[], p_held bigint[], p_credited bigint[], p_consumed bigint[],
  p_wallet bigint[], p_promised bigint[], p_counters text[],
  o_part integer[], o_id text[], o_code text[], o_asked bigint[],
  o_debits text[], o_credits text[], o_amounts text[], o_nonce text[],
  h_op integer[], h_id text[], h_from bigint[], h_to bigint[], h_session text[],
  h_key integer[], h_task text[], h_host text[], h_payee text[],
  t_op integer[], t_policy integer[], t_bucket bigint[],
  t_held bigint[], t_settled bigint[], t_cap bigint[], t_stops boolean[],
  g_op integer[], g_id text[], g_epoch integer[], g_state text[], g_done text[],
  node text, lease integer, resent boolean, companions jsonb
) RETURNS TABLE (
  part integer, version bigint, rules_version bigint,
  spendable bigint, held bigint, credited bigint, consumed bigint, wallet bigint, promised bigint,
  counters text, verdicts text, details bigint[], spent bigint[]
) LANGUAGE plpgsql
-- Every table is reached by its key, however small it was when the plan was made.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  n CONSTANT integer := coalesce(cardinality(o_part), 0);
  marks text[];
  found_details bigint[];
  down boolean[] := array_fill(false, ARRAY[cardinality(p_agent)]);
  any_down boolean := false;
  found_spent bigint[];
  -- Policies of teams that count something here, and what counts under each by now.
  s_policy integer[];
  s_spent bigint[];
  saved bigint[];
  is_tight boolean := false;
  j integer;
  last integer;
  room bigint;
  stops boolean;
  k integer := 0;
  i integer;
  r record;
BEGIN
  -- 1. Ids that stand already, or twice in this call.
  IF n > 0 THEN
    FOR r IN SELECT * FROM postings p WHERE p.id = ANY (o_id) LOOP
      IF marks IS NULL THEN
        marks := array_fill('a'::text, ARRAY[n]);
        found_details := array_fill(NULL::bigint, ARRAY[n]);
      END IF;
      FOREACH i IN ARRAY array_positions(o_id, r.id) LOOP
        IF r.agent_id = p_agent[o_part[i]] AND r.code = o_code[i] AND r.asked_raw = o_asked[i]
           AND r.credits[1] = coalesce((o_credits[i]::text[])[1], r.credits[1]) IS NOT FALSE
           -- Whoever asks for a payment under an id that stands with another one would send what is written nowhere.
           AND (o_nonce[i] IS NULL OR EXISTS (SELECT 1 FROM reservations v
                WHERE v.nonce = o_nonce[i] AND 'hold:' || v.hold_id = r.id)) THEN
          marks[i] := 'd';
          found_details[i] := (
            SELECT coalesce(sum(e.amount), 0)
            FROM unnest(r.debits, r.credits, r.amounts) AS e(debit, credit, amount)
            WHERE e.debit LIKE 'agent:%' AND e.credit NOT LIKE 'agent:%');
        ELSE
          marks[i] := 'c';
        END IF;
      END LOOP;
    END LOOP;
  END IF;
  -- Most calls have one operation: a query for what cannot be is not asked.
  IF n > 1 THEN
    IF (SELECT count(o.id) <> count(DISTINCT o.id COLLATE "C") FROM unnest(o_id) AS o(id)) THEN
      marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
      FOR r IN SELECT o.i FROM (SELECT u.i, row_number() OVER (PARTITION BY u.id ORDER BY u.i) AS nth
                                FROM unnest(o_id) WITH ORDINALITY AS u(id, i)
                                WHERE u.id IS NOT NULL) AS o WHERE o.nth > 1 LOOP
        IF marks[r.i] = 'a' THEN marks[r.i] := 'r'; END IF;
      END LOOP;
    END IF;
  END IF;

  -- 2. The agents, in id order; a part that was decided on another version does not stand.
  FOR r IN SELECT f.agent_id, f.version FROM agent_funds f
           WHERE f.agent_id = ANY (p_agent)
           ORDER BY f.agent_id FOR NO KEY UPDATE LOOP
    k := k + 1;
    WHILE p_agent[k] < r.agent_id LOOP
      down[k] := true;
      any_down := true;
      k := k + 1;
    END LOOP;
    IF p_agent[k] IS DISTINCT FROM r.agent_id THEN
      RAISE EXCEPTION 'the parts of a batch must be in ascending order of their agents';
    END IF;
    IF r.version <> p_version[k] THEN
      down[k] := true;
      any_down := true;
    END IF;
  END LOOP;
  WHILE k < cardinality(p_agent) LOOP
    k := k + 1;
    down[k] := true;
    any_down := true;
  END LOOP;

  -- 3. Expected states of companion rows, and of the holds that are to grow or to be resolved. A hold is
  -- guarded by its agent's row, which is locked.
  IF g_op IS NOT NULL THEN
    PERFORM 1 FROM sessions s WHERE s.id = ANY (g_id) ORDER BY s.id FOR NO KEY UPDATE;
    -- A reservation is guarded by its agent's row, like a hold; it alone has a state to be in. A step that has no
    -- posting is known by where it leads, or who sends it again for want of an answer would have lost to itself.
    -- Both are joined by their keys and nothing else: asked for otherwise, all rows of the agent would be read.
    FOR r IN SELECT g.op, coalesce(v.state = g.done AND v.agent_id = p_agent[o_part[g.op]], false) AS is_done
             FROM unnest(g_op, g_id, g_epoch, g_state, g_done) AS g(op, id, epoch, state, done)
             LEFT JOIN sessions s ON s.id = g.id AND g.state IS NULL
             LEFT JOIN reservations v ON v.nonce = g.id AND g.state IS NOT NULL
             WHERE coalesce(s.agent_id, v.agent_id) IS DISTINCT FROM p_agent[o_part[g.op]]
                OR s.epoch IS DISTINCT FROM g.epoch OR v.state IS DISTINCT FROM g.state LOOP
      marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
      IF marks[r.op] = 'a' THEN marks[r.op] := CASE WHEN r.is_done THEN 'd' ELSE 'l' END; END IF;
    END LOOP;
  END IF;
  IF cardinality(array_remove(h_from, NULL)) > 0 THEN
    FOR r IN SELECT h.op, d.amount_raw
             FROM unnest(h_op, h_id, h_from) AS h(op, id, amount)
             LEFT JOIN holds d ON d.id = h.id AND d.agent_id = p_agent[o_part[h.op]]
             WHERE h.amount IS NOT NULL AND d.amount_raw IS DISTINCT FROM h.amount LOOP
      marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
      found_details := coalesce(found_details, array_fill(NULL::bigint, ARRAY[n]));
      IF marks[r.op] = 'a' THEN
        marks[r.op] := 'm';
        found_details[r.op] := r.amount_raw;
      END IF;
    END LOOP;
  END IF;
  IF marks IS NOT NULL THEN
    FOR i IN 1 .. n LOOP
      IF marks[i] <> 'a' THEN
        down[o_part[i]] := true;
        any_down := true;
      END IF;
    END LOOP;
  END IF;

  -- 4. What teams share, policy by policy in id order. Where not everything fits, operations are admitted
  --    in arrival order against the locked rows; one that does not fit takes its part down, and what the
  --    part had taken is free for those behind it.
  IF t_op IS NOT NULL AND NOT (any_down AND true = ALL (down)) THEN
    FOR r IN
      SELECT c.policy_id, c.held_raw + (SELECT sum(u.b) FROM unnest(
               -- What was decided on an old state may number the buckets of another window.
               roll_buckets(c.buckets, c.head, coalesce((
                 SELECT max(t.bucket) FROM unnest(t_op, t_policy, t_bucket) AS t(op, policy, bucket)
                 WHERE t.policy = c.policy_id AND NOT down[o_part[t.op]]), c.head))) AS u(b)) AS spent
      FROM team_counters c WHERE c.policy_id = ANY (t_policy)
      ORDER BY c.policy_id FOR NO KEY UPDATE LOOP
      s_policy := array_append(s_policy, r.policy_id);
      s_spent := array_append(s_spent, r.spent::bigint);
    END LOOP;
    is_tight := EXISTS (
      -- What is settled beyond its hold leaves less to those behind it.
      SELECT 1 FROM unnest(t_policy, t_held, t_settled, t_cap) AS t(policy, held, settled, cap)
      GROUP BY t.policy
      HAVING sum(greatest(t.held + t.settled, 0)) + s_spent[array_position(s_policy, t.policy)] > min(t.cap)
          OR array_position(s_policy, t.policy) IS NULL);
  END IF;
  IF is_tight THEN
    marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
    found_details := coalesce(found_details, array_fill(NULL::bigint, ARRAY[n]));
    found_spent := array_fill(NULL::bigint, ARRAY[n]);
    i := 1;
    k := 0;
    WHILE i <= cardinality(t_op) LOOP
      -- All that this operation counts under: i to last.
      last := i;
      WHILE t_op[last + 1] = t_op[i] LOOP last := last + 1; END LOOP;
      -- What was decided on an old state is not admitted, and not refused either.
      IF down[o_part[t_op[i]]] THEN
        i := last + 1;
        CONTINUE;
      END IF;
      IF o_part[t_op[i]] <> k THEN
        k := o_part[t_op[i]];
        saved := s_spent;
      END IF;
      room := NULL;
      FOR t IN i .. last LOOP
        j := array_position(s_policy, t_policy[t]);
        IF j IS NULL THEN
          RAISE EXCEPTION 'policy % of a team has no counter', t_policy[t];
        END IF;
        -- One that stops its agent is told before one that only blocks, then the one with the least room.
        IF t_cap[t] IS NOT NULL AND s_spent[j] + t_held[t] > t_cap[t]
           AND (room IS NULL OR (t_stops[t], room) > (stops, t_cap[t] - s_spent[j])) THEN
          room := t_cap[t] - s_spent[j];
          stops := t_stops[t];
          found_details[t_op[i]] := t_policy[t];
          found_spent[t_op[i]] := s_spent[j];
        END IF;
      END LOOP;
      IF room IS NOT NULL THEN
        IF marks[t_op[i]] = 'a' THEN marks[t_op[i]] := 't'; END IF;
      ELSE
        FOR t IN i .. last LOOP
          j := array_position(s_policy, t_policy[t]);
          s_spent[j] := s_spent[j] + t_held[t] + t_settled[t];
        END LOOP;
      END IF;
      i := last + 1;
      -- The part is over: what it took is given back unless it stands.
      IF (t_op[i] IS NULL OR o_part[t_op[i]] <> k) AND EXISTS (
        SELECT 1 FROM unnest(o_part, marks) AS m(part, mark) WHERE m.part = k AND m.mark = 't') THEN
        down[k] := true;
        any_down := true;
        s_spent := saved;
      END IF;
    END LOOP;
  END IF;

  -- 5. What stands is written.
  IF n > 0 AND NOT (any_down AND true = ALL (down)) THEN
    UPDATE agent_funds f
    SET version = f.version + 1,
        spendable_raw = f.spendable_raw + p.spendable,
        held_raw = f.held_raw + p.held,
        credited_raw = f.credited_raw + p.credited,
        consumed_raw = f.consumed_raw + p.consumed,
        wallet_raw = f.wallet_raw + p.wallet,
        promised_raw = f.promised_raw + p.promised,
        counters = coalesce(p.counters, f.counters)
    FROM unnest(p_agent, p_size, p_spendable, p_held, p_credited, p_consumed, p_wallet, p_promised,
                coalesce(p_counters, array_fill(NULL::text, ARRAY[cardinality(p_agent)])), down)
         AS p(agent, size, spendable, held, credited, consumed, wallet, promised, counters, down)
    WHERE f.agent_id = p.agent AND p.size > 0 AND NOT p.down;

    IF t_op IS NOT NULL THEN
      UPDATE team_counters c
      SET held_raw = c.held_raw + d.held,
          buckets = fill_bucket(c.buckets, c.head, d.bucket, d.settled),
          head = greatest(c.head, d.bucket)
      FROM (SELECT t.policy, sum(t.held)::bigint AS held, sum(t.settled)::bigint AS settled,
                   max(t.bucket) AS bucket
            FROM unnest(t_op, t_policy, t_held, t_settled, t_bucket)
                 AS t(op, policy, held, settled, bucket)
            WHERE NOT down[o_part[t.op]] GROUP BY t.policy) AS d
      WHERE c.policy_id = d.policy;
    END IF;

    INSERT INTO postings (id, agent_id, code, asked_raw, debits, credits, amounts)
    SELECT o.id, p_agent[o.part], o.code, o.asked, o.debits::text[], o.credits::text[],
           o.amounts::bigint[]
    FROM unnest(o_part, o_id, o_code, o_asked, o_debits, o_credits, o_amounts)
         AS o(part, id, code, asked, debits, credits, amounts)
    WHERE o.id IS NOT NULL AND o.debits IS NOT NULL AND NOT down[o.part];

    IF array_position(h_from, NULL) IS NOT NULL THEN
      INSERT INTO holds (id, agent_id, amount_raw, kind, session_id, node_id, lease_epoch,
                         key_root_id, task_id, host, payee)
      SELECT h.id, p_agent[o_part[h.op]], h.amount,
             CASE WHEN h.session IS NULL THEN 'request' ELSE 'session' END, h.session, node, lease,
             h.key, h.task, h.host, h.payee
      FROM unnest(h_op, h_id, h_from, h_to, h_session, h_key, h_task, h_host, h_payee)
           AS h(op, id, prior, amount, session, key, task, host, payee)
      WHERE h.prior IS NULL AND NOT down[o_part[h.op]];
    END IF;
    IF cardinality(array_remove(h_from, NULL)) + cardinality(array_remove(h_to, NULL))
       > cardinality(h_op) THEN
      UPDATE holds d SET amount_raw = h.amount
      FROM unnest(h_op, h_id, h_from, h_to) AS h(op, id, prior, amount)
      WHERE d.id = h.id AND h.prior IS NOT NULL AND h.amount IS NOT NULL AND NOT down[o_part[h.op]];
    END IF;
    IF array_position(h_to, NULL) IS NOT NULL THEN
      DELETE FROM holds d
      USING unnest(h_op, h_id, h_to) AS h(op, id, amount)
      WHERE d.id = h.id AND h.amount IS NULL AND NOT down[o_part[h.op]];
    END IF;

    IF companions IS NOT NULL THEN
      PERFORM write_companions(
        companions, ARRAY(SELECT NOT down[u.part] FROM unnest(o_part) WITH ORDINALITY AS u(part, i)
                          ORDER BY u.i), node, lease);
    END IF;
  END IF;

  IF NOT any_down THEN
    RETURN;
  END IF;
  -- A cap of the team may have room again when the copy of a refused part arrives: it must find another version. All
  -- else that takes a part down is as it was for as long as its version is.
  IF resent AND is_tight THEN
    UPDATE agent_funds f SET version = f.version + 1
    WHERE f.agent_id IN (SELECT p_agent[m.part] FROM unnest(o_part, marks) AS m(part, mark) WHERE m.mark = 't');
  END IF;
  RETURN QUERY
    SELECT p.nr::integer, f.version, f.rules_version, f.spendable_raw, f.held_raw, f.credited_raw,
      f.consumed_raw, f.wallet_raw, f.promised_raw, f.counters,
      coalesce((SELECT string_agg(CASE coalesce(marks[u.i], 'a') WHEN 'a' THEN 's' ELSE marks[u.i] END,
                                  '' ORDER BY u.i)
                FROM unnest(o_part) WITH ORDINALITY AS u(part, i) WHERE u.part = p.nr), ''),
      CASE WHEN found_details IS NOT NULL THEN
        ARRAY(SELECT found_details[u.i] FROM unnest(o_part) WITH ORDINALITY AS u(part, i)
              WHERE u.part = p.nr ORDER BY u.i) END,
      CASE WHEN found_spent IS NOT NULL THEN
        ARRAY(SELECT found_spent[u.i] FROM unnest(o_part) WITH ORDINALITY AS u(part, i)
              WHERE u.part = p.nr ORDER BY u.i) END
    FROM unnest(p_agent, down) WITH ORDINALITY AS p(agent, down, nr)
    LEFT JOIN agent_funds f ON f.agent_id = p.agent
    WHERE p.down
    ORDER BY p.nr;
END $$;
