"""The files that a project needs to work with Prosa: settings, a hook, a workflow, a section for agents, a skill."""
