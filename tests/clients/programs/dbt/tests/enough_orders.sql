select n from (select count(*) as n from {{ source('shop', 'orders') }}) counted where abs(n - 60000) > 2000
