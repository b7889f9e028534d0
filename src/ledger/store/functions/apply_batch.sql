-- Parts (p_) are the batches of one agent each, in ascending order; operations (o_) name their part by number and
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
--   l  the guard failed: another process has taken the row over
--   m  the hold is not open at the amount named (details: the amount it is open at, or null)
--   t  a cap of the team would be crossed (details: the policy; spent: what counts under it)
--   s  nothing wrong with it, but its part does not stand: decide again
CREATE OR REPLACE FUNCTION apply_batch(
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
