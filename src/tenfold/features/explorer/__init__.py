"""What happens inside, in one page that needs no network: type 999+1 and watch it."""
