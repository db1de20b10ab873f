printf '731\n690\n112\n' | chronodp watch grounded --dataset flights --below 400 --change 1 --epsilon 0.5
