chronodp serve --demo
