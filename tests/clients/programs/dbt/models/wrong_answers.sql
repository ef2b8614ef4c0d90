{{ config(materialized='temporary',
          post_hook="select 1 / (select case when sum(n) > 70000 then 1 else 0 end from wrong_answers)") }}
select status, n from {{ ref('by_status') }}
