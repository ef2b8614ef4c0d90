{{ config(materialized='ephemeral') }}
select status, count(*) as n, sum(total) as total from {{ source('shop', 'orders') }} group by status
