select status, n from {{ ref('by_status') }} where n < 100000
