"""What runs on a site: programs as actions, interactive scripts, sign-in."""
