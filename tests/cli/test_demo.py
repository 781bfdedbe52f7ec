from otel_toolerrors.cli.codes import ExitCode


def test_demo_tells_the_whole_story(command, tmp_path):
    """A small demo plays, finds, tunes, plays again, compares, and leaves everything where it says."""
    said = command("demo", "--tasks", "60", "--keep", tmp_path / "kept")
    assert said.code == ExitCode.DONE
    for words in (
        "No language model is involved",
        "Waits are simulated",
        "planned fault",
        "Before and after",
        "Jaeger",
    ):
        assert words in said.out
    for name in ("before", "after", "check-before", "check-after", "toolerrors.tuned.toml", "pictures/trace-light.svg"):
        assert (tmp_path / "kept" / name).exists()


def test_demo_replaces_its_own_files_only(command, tmp_path):
    """What somebody else put into the folder stays."""
    keep = tmp_path / "kept"
    (keep / "before").mkdir(parents=True)
    (keep / "before" / "old.jsonl").write_text("{}\n")
    (keep / "mine.txt").write_text("mine")
    assert ExitCode.DONE == command("demo", "--tasks", "20", "--keep", keep).code
    assert (keep / "mine.txt").read_text() == "mine"
    assert not (keep / "before" / "old.jsonl").exists()


def test_a_file_is_no_folder(command, tmp_path):
    """A file in place of the folder is told before anything is played."""
    (tmp_path / "file").write_text("")
    said = command("demo", "--keep", tmp_path / "file")
    assert said.code == ExitCode.USAGE
    assert "Name a folder with --keep" in said.err
