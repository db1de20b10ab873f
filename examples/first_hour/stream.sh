printf '731\n690\n702\n' | chronodp stream flying --dataset flights --workload each_period --horizon 365 --change 1 --max-periods 365 --epsilon 1 --delta 1e-6
