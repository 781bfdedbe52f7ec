from pathlib import Path

import pytest

PAGES = ("docs/integrations/recipes.md", "docs/integrations/conformance.md")


@pytest.mark.parametrize("file", sorted(Path("tests/apart/requirements").glob("*.txt")), ids=lambda file: file.stem)
def test_pages_name_the_release_that_is_run(file):
    """The page says what a recipe or an adapter was run with, and there is a test for it."""
    pin = file.read_text(encoding="utf-8").splitlines()[0].replace("==", " ")

    assert any(pin in Path(page).read_text(encoding="utf-8") for page in PAGES)
    assert Path(f"tests/apart/test_{file.stem}.py").exists()
