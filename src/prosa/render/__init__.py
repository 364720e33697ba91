"""Values into text: diagnostics and outlines for people, JSON for programs, commands for GitHub. Pure."""
