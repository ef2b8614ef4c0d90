select current_date as day
