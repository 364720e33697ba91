"""Running a program: prompt, loop, tools, output, limits, summary. Pure; the world comes in through ports."""
