"""Nothing survives from one run to the next, and what should differ between runs does (L23)."""

from __future__ import annotations

import pytest

PLANTED = {
    "globals": ("secret = 1", "print('secret' in globals())"),
    "modules": (
        "import sys; sys.modules['planted'] = sys",
        "import sys; print('planted' in sys.modules)",
    ),
    "builtins": (
        "import builtins; builtins.print = None; builtins.open = None; builtins.leak = 1",
        "import builtins; print(hasattr(builtins, 'leak') or open is None)",
    ),
    "library": ("import json; json.dumps = None", "import json; print(json.dumps is None)"),
    "environment": ("import os; os.environ['LEAK'] = '1'", "import os; print('LEAK' in os.environ)"),
    "files": ("open('leak', 'w').write('1')", "import os; print(os.path.exists('leak'))"),
    "module files": (
        "open('planted_module.py', 'w')",
        "try:\n  import planted_module; print(True)\nexcept ImportError: print(False)",
    ),
    "finders": ("import sys; sys.meta_path.clear()", "import sys; print(not sys.meta_path)"),
    "excepthook": (
        "import sys; sys.unraisablehook = sys.excepthook = print",
        "import sys; print(sys.excepthook is print)",
    ),
    "host functions": (
        "import wit_world; wit_world.emit = lambda *a: None",
        "print(False)",
    ),
    "locale": (
        "import decimal; decimal.getcontext().prec = 2",
        "import decimal; print(decimal.getcontext().prec == 2)",
    ),
}


@pytest.mark.parametrize(("plant", "look"), PLANTED.values(), ids=PLANTED)
def test_l23_a_run_leaves_nothing_behind(python, plant, look):
    python(plant)
    assert python(look).stdout == "False\n"


def test_l23_a_program_can_import_a_module_it_wrote(python):
    assert python("open('mine.py', 'w').write('x = 5'); import mine; print(mine.x)").stdout == "5\n"


@pytest.mark.parametrize(
    "code",
    [
        "import random; print(random.random())",
        "import os; print(os.urandom(8))",
        "import secrets; print(secrets.token_hex())",
        "import uuid; print(uuid.uuid4())",
        "import tempfile; print(tempfile.mktemp())",
    ],
)
def test_chance_differs_between_runs(python, code):
    assert len({python(code).stdout for _ in range(3)}) == 3


def test_chance_repeats_with_a_seed(python):
    code = "import random; random.seed(7); print(random.random())"
    assert python(code).stdout == python(code).stdout


def test_the_clock_is_real(python):
    import time

    before = time.time()
    shown = float(python("import time; print(time.time())").stdout)
    assert before - 1 <= shown <= time.time() + 1
