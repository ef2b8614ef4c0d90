-- The session ends with the model: what looks at its table has to be a hook.
{{ config(materialized='temporary',
          post_hook="select 1 / (select case when sum(n) > 50000 then 1 else 0 end from answers)") }}
select status, n from {{ ref('by_status') }}
