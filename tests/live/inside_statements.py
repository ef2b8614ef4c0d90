"""What is in columns of jsonb and arrays, over w.sales of test_functions.py."""

from __future__ import annotations

_COUNT = "SELECT count(*) FROM w.sales"

# The first columns are keys, the last is an answer.
GROUPED_INSIDE = (
    "SELECT attrs->>'plan' AS p, count(*) FROM w.sales GROUP BY 1",
    "SELECT attrs->>'plan' AS p, state, count(*) FROM w.sales"
    " WHERE attrs->>'plan' IN ('pro', 'free') GROUP BY 1, 2",
    "SELECT coalesce(attrs->'addr'->>'city', 'none') AS c, count(*) FROM w.sales GROUP BY 1",
    "SELECT upper(attrs #>> '{addr,city}') AS c, count(*) FROM w.sales GROUP BY 1",
    "SELECT CASE WHEN attrs->>'plan' = 'pro' THEN 'pro' ELSE 'other' END AS p, count(*) FROM w.sales"
    " GROUP BY 1",
    "SELECT jsonb_typeof(attrs) AS p, jsonb_typeof(attrs->'n') AS k, count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT attrs ? 'addr' AS has, count(*) FROM w.sales WHERE attrs IS NOT NULL GROUP BY 1",
    "SELECT tags @> '{b}' AS b, count(*) FROM w.sales WHERE tags @> '{a}' GROUP BY 1",
    "SELECT cardinality(tags) AS n, count(*) FROM w.sales GROUP BY 1",
    "SELECT tags[1] AS t, scores[2] AS s, count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT q.p, count(*) FROM (SELECT attrs->>'plan' AS p FROM w.sales WHERE tags && '{a,b}') q GROUP BY q.p",
)
CONDITIONS_INSIDE = (
    *("attrs->>'plan' = 'pro'", "attrs->>'plan' <> 'pro'", "attrs->>'plan' IS NULL"),
    *("attrs->>'plan' NOT IN ('pro', 'free')", "attrs->>'plan' LIKE 'p%'", "attrs->>'n' = '3'"),
    *(
        "attrs->>'addr' = '{\"city\": \"Ulm\"}'",
        "attrs->'addr'->>'city' = 'Ulm'",
        "attrs->0->>'plan' = 'x'",
    ),
    *("(attrs->'list')->>1 = 'two'", "attrs->'list'->>-1 = 'two'", "attrs->'list'->'1' IS NULL"),
    *(
        "attrs->>'' = 'empty'",
        "attrs->>'$.a' = 'dollar'",
        "attrs->>'it''s' = 'quoted'",
        "attrs->>'*' = 'star'",
    ),
    *(
        'attrs @> \'{"plan": "pro"}\'',
        "NOT attrs @> '{\"n\": 3.0}'",
        "attrs->'list' @> '[\"two\"]'::jsonb",
    ),
    *('\'{"addr": {"city": "Ulm"}}\' <@ attrs', 'attrs @> \'{"plan": "x", "plan": "pro"}\''),
    *(
        "attrs ? 'plan'",
        "NOT (attrs ? 'plan')",
        "attrs ?| ARRAY['none', 'addr']",
        "attrs ?& '{plan,addr}'",
    ),
    *(
        "attrs IS NULL",
        "attrs->'n' IS NOT NULL",
        "attrs->>'nil' IS NULL AND attrs->'nil' IS NOT NULL",
    ),
    *("jsonb_extract_path_text(attrs, 'addr', 'city') = 'Ulm'", "attrs #> '{addr}' IS NOT NULL"),
    *(
        "jsonb_typeof(attrs->'n') = 'number'",
        "attrs->>'plan' = state",
        "attrs->>'plan' || state = 'prosouth'",
    ),
    *("attrs->>'city' IS DISTINCT FROM attrs->'addr'->>'city'", "attrs->>'plan' = ANY('{pro,x}')"),
    *("'a' = ANY(tags)", "NOT ('a' = ANY(tags))", "'a' <> ALL(tags)", "('a' = ANY(tags)) IS NULL"),
    *(
        "tags @> ARRAY['a', 'b']",
        "NOT tags @> '{a}'",
        "tags && ARRAY['c', 'b']",
        "NOT (tags && '{a}')",
    ),
    *("ARRAY['b']::text[] <@ tags", "tags @> '{}'", "tags && '{}'", "tags @> ARRAY[NULL]::text[]"),
    *(
        "cardinality(tags) > 1",
        "array_length(tags, 1) IS NULL",
        "cardinality(tags) * 2 BETWEEN 2 AND 4",
    ),
    *(
        "tags[1] = 'b'",
        "tags[7] IS NULL",
        "tags IS NULL",
        "'a' = SOME(tags) AND tags[2] IS NOT NULL",
    ),
    *("3 = ANY(scores)", "scores @> ARRAY[3]", "scores && '{1,2}'", "scores[1] + 1 > scores[2]"),
    *(
        "lasted > interval '23 hours'",
        "lasted = '1 day'",
        "lasted IN ('24 hours', '1 month')",
        "lasted <= '30 days'::interval",
        "lasted IS NULL",
    ),
    *(
        "lasted BETWEEN '1 minute' AND interval '360 days'",
        "NOT lasted < make_interval(mins => -4)",
    ),
    *(
        "extract(epoch FROM lasted) / 60 > 10",
        "extract(epoch FROM lasted) = 86400",
        "lasted > '-1 hour'",
    ),
    *("3000000000 = ANY(scores)", "'3' = ANY(scores)", "scores[1] IN (1, 3)"),
)
ANSWERS_INSIDE = (
    *(
        f"{_COUNT} WHERE {condition}"
        for condition in CONDITIONS_INSIDE
        if "scores[1] + 1" not in condition
    ),
    "SELECT sum(least(cardinality(tags), 10)), avg(least(array_length(tags, 1), 10)) FROM w.sales"
    " WHERE tags IS NOT NULL AND tags @> '{a}'",
    "SELECT sum(greatest(least(extract(epoch FROM lasted), 100000), 0)), count(lasted) FROM w.sales"
    " WHERE lasted IS NOT NULL",
    "SELECT avg(greatest(least(extract(epoch FROM lasted), 100000), -300)) FROM w.sales"
    " WHERE lasted < '1 week'",
    "SELECT count(attrs), count(attrs->'n'), count(attrs->>'plan'), count(DISTINCT attrs->>'plan')"
    " FROM w.sales",
    "SELECT sum(age) FILTER (WHERE 'a' = ANY(tags)), count(*) FILTER (WHERE attrs @> '{\"n\": 3}')"
    " FROM w.sales",
    "SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind AND s.attrs->>'plan' = 'pro'",
)
REFUSED_INSIDE = (
    *(
        "lasted + lasted > '1 day'",
        "at + lasted > at",
        "extract(day FROM lasted) = 1",
    ),
    *("attrs = '{}'", "tags = '{a}'", "tags <> ARRAY['a']", "attrs->'n' = '3'", "attrs < '{}'"),
    *("state = ANY(tags)", "(attrs->>'n')::int > 2", "attrs->>state = 'x'", "tags[kind] = 'a'"),
    *(
        "jsonb_array_length(attrs->'list') > 1",
        "attrs @@ '$.n > 1'",
        "attrs @? '$.n'",
        "'a' = ALL(tags)",
    ),
    *(
        "attrs - 'n' = '{}'",
        "attrs #>> '{list,0}' = 'one'",
        "tags || ARRAY['x'] @> '{a}'",
        "attrs @> attrs",
    ),
)
