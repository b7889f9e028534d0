-- The one function that moves money: everything that all agents of a process have waiting, in one
-- round trip. It decides nothing about spending; it refuses whatever was decided on an old state.

-- Rows that are rewritten all day find room on their own page, so no index is touched.
ALTER TABLE agent_funds SET (fillfactor = 40);
--> statement-breakpoint
ALTER TABLE team_funds SET (fillfactor = 40);
--> statement-breakpoint

-- Rows that ride with a posting. `standing[op]` says whether the operation is written at all.
CREATE FUNCTION write_companions(companions json, standing boolean[], node text, lease integer)
RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  IF companions -> 'sessions' IS NOT NULL THEN
    INSERT INTO sessions (id, agent_id, key_id, kind, target, model, account, task_id, action_id,
                          customer_id, node_id, lease_epoch)
    SELECT x.id, x.agent, x.key, x.kind, x.target, x.model, x.account, x.task, x.action,
           x.customer, node, lease
    FROM json_to_recordset(companions -> 'sessions') AS x(op integer, id text, agent integer,
         key integer, kind text, target text, model text, account text, task text, action text,
         customer text)
    WHERE standing[x.op];
  END IF;
  IF companions -> 'journal' IS NOT NULL THEN
    -- A repeat after a lost connection finds its own line.
    INSERT INTO session_journal (session_id, seq, epoch, cost_raw, usage)
    SELECT x.session, x.seq, x.epoch, x.cost, decode(x.usage, 'hex')
    FROM json_to_recordset(companions -> 'journal') AS x(op integer, session text, seq integer,
         epoch integer, cost bigint, usage text)
    WHERE standing[x.op]
    ON CONFLICT DO NOTHING;
  END IF;
  IF companions -> 'ends' IS NOT NULL THEN
    UPDATE sessions s SET ended_at = now(), end_reason = x.reason
    FROM json_to_recordset(companions -> 'ends') AS x(op integer, id text, reason text)
    WHERE standing[x.op] AND s.id = x.id;
  END IF;
  IF companions -> 'charges' IS NOT NULL THEN
    INSERT INTO charges (agent_id, posting_id, key_id, target_url, target_host, method, status,
                         cost_raw, model, rail, usage, task_id, action_id, customer_id, session_id,
                         response_status_code, latency_ms, overhead_ms, upstream_ms)
    SELECT x.agent, x.posting, x.key, x.url, x.host, x.method, x.status, x.cost, x.model, x.rail,
           x.usage, x.task, x.action, x.customer, x.session, x.code, x.latency, x.overhead,
           x.upstream
    FROM json_to_recordset(companions -> 'charges') AS x(op integer, agent integer, posting text,
         key integer, url text, host text, method text, status text, cost bigint, model text,
         rail text, usage jsonb, task text, action text, customer text, session text,
         code integer, latency integer, overhead integer, upstream integer)
    WHERE standing[x.op];
  END IF;
  IF companions -> 'events' IS NOT NULL THEN
    INSERT INTO events (name, account_id, agent_wallet, correlation_id, payload)
    SELECT x.name, x.account, x.wallet, x.correlation, x.payload
    FROM json_to_recordset(companions -> 'events') AS x(op integer, name text, account text,
         wallet text, correlation text, payload jsonb)
    WHERE standing[x.op];
  END IF;
END $$;
--> statement-breakpoint

-- Parts (p_) are one agent each, in ascending order; operations (o_) name their part by number and
-- are numbered from 1 (one without debits is only looked for); hold changes (h_) and guards (g_) name their operation. An array that is null
-- has nothing in it. A part stands whole or not at all. Only parts that do not stand come back, with the
-- present state of their agent (no version: there is no such agent) and a letter an operation; one that
-- stands has moved its row by exactly what it said, since its version was the row's.
--   d  the same posting stands already (details: what left the agent by it)
--   c  another posting stands under this id
--   r  the id stands earlier in this batch
--   l  the guard failed: somebody else has taken the row over
--   m  the hold is not open at the amount named (details: the amount it is open at, or null)
--   s  nothing wrong with it, but its part does not stand: decide again
CREATE FUNCTION apply_batch(
  p_agent integer[], p_version bigint[], p_size integer[],
  p_spendable bigint[], p_held bigint[], p_credited bigint[], p_consumed bigint[],
  o_part integer[], o_id text[], o_code text[], o_asked bigint[],
  o_debits text[], o_credits text[], o_amounts text[],
  h_op integer[], h_id text[], h_from bigint[], h_to bigint[], h_session text[],
  g_op integer[], g_session text[], g_epoch integer[],
  node text, lease integer, companions json
) RETURNS TABLE (
  part integer, version bigint, rules_version bigint,
  spendable bigint, held bigint, credited bigint, consumed bigint,
  verdicts text, details bigint[]
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
  teams text[];
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
           AND r.credits[1] = coalesce((o_credits[i]::text[])[1], r.credits[1]) IS NOT FALSE THEN
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
  IF n > 1 AND (SELECT count(o.id) <> count(DISTINCT o.id COLLATE "C") FROM unnest(o_id) AS o(id)) THEN
    marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
    FOR r IN SELECT o.i FROM (SELECT u.i, row_number() OVER (PARTITION BY u.id ORDER BY u.i) AS nth
                              FROM unnest(o_id) WITH ORDINALITY AS u(id, i)
                              WHERE u.id IS NOT NULL) AS o WHERE o.nth > 1 LOOP
      IF marks[r.i] = 'a' THEN marks[r.i] := 'r'; END IF;
    END LOOP;
  END IF;

  -- 2. The agents, in id order; a part that was decided on another version does not stand.
  FOR r IN SELECT f.agent_id, f.version, CASE WHEN t.counters IS NULL THEN NULL ELSE t.account_id END AS team
           FROM agent_funds f LEFT JOIN team_funds t ON t.account_id = f.account_id
           WHERE f.agent_id = ANY (p_agent)
           ORDER BY f.agent_id FOR NO KEY UPDATE OF f LOOP
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
    ELSIF r.team IS NOT NULL THEN
      teams := array_append(teams, r.team);
    END IF;
  END LOOP;
  WHILE k < cardinality(p_agent) LOOP
    k := k + 1;
    down[k] := true;
    any_down := true;
  END LOOP;

  -- 3. The teams that count what their agents share, in id order. Their operations are admitted in
  --    arrival order against the locked row.
  IF teams IS NOT NULL THEN
    PERFORM 1 FROM team_funds t WHERE t.account_id = ANY (teams)
    ORDER BY t.account_id FOR NO KEY UPDATE;
  END IF;

  -- Expected states of companion rows, and of the holds that are to grow or to be resolved. A hold is
  -- guarded by its agent's row, which is locked.
  IF g_op IS NOT NULL THEN
    PERFORM 1 FROM sessions s WHERE s.id = ANY (g_session) ORDER BY s.id FOR NO KEY UPDATE;
    FOR r IN SELECT g.op FROM unnest(g_op, g_session, g_epoch) AS g(op, session, epoch)
             WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = g.session
                               AND s.epoch = g.epoch AND s.agent_id = p_agent[o_part[g.op]]) LOOP
      marks := coalesce(marks, array_fill('a'::text, ARRAY[n]));
      IF marks[r.op] = 'a' THEN marks[r.op] := 'l'; END IF;
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

  -- 4. What stands is written.
  IF n > 0 AND NOT (any_down AND true = ALL (down)) THEN
    UPDATE agent_funds f
    SET version = f.version + 1,
        spendable_raw = f.spendable_raw + p.spendable,
        held_raw = f.held_raw + p.held,
        credited_raw = f.credited_raw + p.credited,
        consumed_raw = f.consumed_raw + p.consumed
    FROM unnest(p_agent, p_size, p_spendable, p_held, p_credited, p_consumed, down)
         AS p(agent, size, spendable, held, credited, consumed, down)
    WHERE f.agent_id = p.agent AND p.size > 0 AND NOT p.down;

    INSERT INTO postings (id, agent_id, code, asked_raw, debits, credits, amounts)
    SELECT o.id, p_agent[o.part], o.code, o.asked, o.debits::text[], o.credits::text[],
           o.amounts::bigint[]
    FROM unnest(o_part, o_id, o_code, o_asked, o_debits, o_credits, o_amounts)
         AS o(part, id, code, asked, debits, credits, amounts)
    WHERE o.id IS NOT NULL AND o.debits IS NOT NULL AND NOT down[o.part];

    IF array_position(h_from, NULL) IS NOT NULL THEN
      INSERT INTO holds (id, agent_id, amount_raw, kind, session_id, node_id, lease_epoch)
      SELECT h.id, p_agent[o_part[h.op]], h.amount,
             CASE WHEN h.session IS NULL THEN 'request' ELSE 'session' END, h.session, node, lease
      FROM unnest(h_op, h_id, h_from, h_to, h_session) AS h(op, id, prior, amount, session)
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
  RETURN QUERY
    SELECT p.nr::integer, f.version, f.rules_version, f.spendable_raw, f.held_raw, f.credited_raw,
      f.consumed_raw,
      coalesce((SELECT string_agg(CASE coalesce(marks[u.i], 'a') WHEN 'a' THEN 's' ELSE marks[u.i] END,
                                  '' ORDER BY u.i)
                FROM unnest(o_part) WITH ORDINALITY AS u(part, i) WHERE u.part = p.nr), ''),
      CASE WHEN found_details IS NOT NULL THEN
        ARRAY(SELECT found_details[u.i] FROM unnest(o_part) WITH ORDINALITY AS u(part, i)
              WHERE u.part = p.nr ORDER BY u.i) END
    FROM unnest(p_agent, down) WITH ORDINALITY AS p(agent, down, nr)
    LEFT JOIN agent_funds f ON f.agent_id = p.agent
    WHERE p.down
    ORDER BY p.nr;
END $$;
