"""Options that several commands have are declared once and mean the same in all of them."""

import inspect
from collections import defaultdict

import pytest
import typer

from wholebody.cli import application, options
from wholebody.processes import HELP, registry

PARAMETERS = ("--help", "--version")


def declared(command, path=""):
    """Every option of a command and of those below it: the command, the spelling, and what it says of itself."""
    for name, each in getattr(command, "commands", {}).items():
        yield from declared(each, f"{path} {name}")
    for each in command.params:
        if each.param_type_name == "option" and each.opts[0] not in PARAMETERS:
            yield path, each.opts[0], (*each.opts, *each.secondary_opts), (each.help, each.metavar)


ALL = list(declared(typer.main.get_command(application([]))))


def in_table(info):
    return getattr(info, "__metadata__", (info,))[0]


TABLE = {
    in_table(each).help
    for name, each in vars(options).items()
    if name[0].isupper() and isinstance(in_table(each), typer.models.OptionInfo)
}


def test_what_several_commands_have_is_in_the_table_and_the_same():
    commands = defaultdict(list)
    for path, option, spellings, said in ALL:
        commands[option].append((path, spellings, said))
    several = {option: found for option, found in commands.items() if len(found) > 1}
    assert len(several) > 30
    for option, found in several.items():
        assert len({(spellings, said) for _, spellings, said in found}) == 1, (option, found)
        assert found[0][2][0] in TABLE, f"{option} is not declared in wholebody/cli/options.py: {found}"


def test_nothing_in_the_table_is_spelled_otherwise_anywhere():
    spelled = defaultdict(set)
    for _, _, spellings, (text, _) in ALL:
        spelled[text].add(spellings)
    assert {text: found for text, found in spelled.items() if len(found) > 1 and text in TABLE} == {}


def test_every_command_that_begins_a_process_takes_a_name():
    named = {path.split()[0] for path, option, *_ in ALL if option == "--name"}
    assert {"demo", "start", "run", "walk", "crawl", "filter", "page", "rcp"} <= named


@pytest.mark.parametrize("role", registry.ROLES.values(), ids=lambda role: role.name)
def test_options_of_processes_are_those_of_commands(role):
    for option in inspect.signature(role.load()).parameters:
        if option != "ready":
            said = {text for _, other, _, (text, _) in ALL if other == f"--{option}"}
            assert all(text.startswith(HELP[option]) for text in said), option
