"""The grammar of scheduler.conf (spec 02 §6, spec 03 §4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.framework import switches
from vcsched.framework.conf import Configuration, from_mapping, parse
from vcsched.framework.conf_loader import BUILT_IN
from vcsched.framework.findings import ConfigurationError, Finding

ACTIONS = ("enqueue", "allocate", "backfill", "preempt", "reclaim", "gangpreempt")
PLUGINS = ("priority", "gang", "conformance", "overcommit", "drf", "predicates", "proportion", "nodeorder")
PLUGINS += ("capacity", "binpack")


def read(text: str) -> Configuration:
    return parse(text, ACTIONS, PLUGINS)


def refused(text: str) -> list[Finding]:
    """The findings that refuse this text."""
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    return [finding for finding in caught.value.findings if finding.refuses]


def tier(*plugins: str, actions: str = "allocate") -> str:
    return f"actions: {actions}\ntiers:\n- plugins:\n" + "".join(f"  - {plugin}\n" for plugin in plugins)


def names(configuration: Configuration) -> list[list[str]]:
    return [[entry.name for entry in tier.plugins] for tier in configuration.tiers]


def test_the_built_in_configuration_has_two_tiers_and_nothing_to_remark() -> None:
    configuration = read(BUILT_IN)
    assert configuration.actions == ("enqueue", "allocate", "backfill")
    assert names(configuration) == [
        ["priority", "gang", "conformance"],
        ["overcommit", "drf", "predicates", "proportion", "nodeorder"],
    ]
    assert configuration.findings == ()
    assert configuration.configurations == {}


def test_every_switch_is_on_unless_set_but_hierarchy_and_cluster_order() -> None:
    for entry in read(BUILT_IN).entries():
        off = {switch for switch in switches.DEFAULTS if not entry.is_enabled(switch)}
        assert off == {"enableHierarchy", "enabledClusterOrder"}
    assert len(switches.DEFAULTS) == 25


def test_a_plugin_with_all_switches_off_stays_off() -> None:
    off = dict.fromkeys(switches.DEFAULTS, False)
    data = {"actions": "allocate", "tiers": [{"plugins": [{"name": "gang", **off}]}]}
    (entry,) = from_mapping(data).entries()
    assert not any(entry.is_enabled(switch) for switch in switches.DEFAULTS)


def test_a_name_that_is_no_switch_cannot_be_asked_for() -> None:
    entry = next(read(BUILT_IN).entries())
    with pytest.raises(KeyError):
        entry.is_enabled("enabledJobOrder")


@pytest.mark.parametrize("word", ["true", "yes", "on", "y", "Y", "True"])
def test_a_switch_takes_every_yaml_boolean(word: str) -> None:
    (entry,) = read(tier(f"{{name: drf, enableHierarchy: {word}}}")).entries()
    assert entry.is_enabled("enableHierarchy")


def test_a_null_switch_is_absent() -> None:
    (entry,) = read(tier("{name: gang, enableJobOrder: , enabledClusterOrder: ~}")).entries()
    assert entry.is_enabled("enableJobOrder")
    assert not entry.is_enabled("enabledClusterOrder")


@pytest.mark.parametrize("value", ['"true"', "1", "[true]", "t"])
def test_a_switch_of_another_type_refuses_the_whole_text(value: str) -> None:
    (finding,) = refused(tier(f"{{name: gang, enableJobOrder: {value}}}"))
    assert finding[:2] == (4, 34)
    assert "enableJobOrder" in finding.message


def test_a_misspelt_switch_is_ignored_with_the_right_spelling_beside() -> None:
    configuration = read(tier("{name: gang, enabledJobOrder: false}"))
    (finding,) = configuration.findings
    assert (finding.line, finding.column, finding.severity) == (4, 18, "warning")
    assert "did you mean enableJobOrder?" in finding.message
    assert all(entry.is_enabled("enableJobOrder") for entry in configuration.entries())


def test_actions_are_trimmed_ordered_and_may_repeat() -> None:
    assert read('actions: "  reclaim ,allocate,allocate "').actions == ("reclaim", "allocate", "allocate")


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ('actions: "enqueue, alocate"', (1, 20), 'unknown action "alocate" (did you mean allocate?)'),
        ("actions: alocate", (1, 10), "alocate"),
        ("tiers: []\nactions: >\n  enqueue,\n  alocate\n", (4, 3), "alocate"),
        ('actions: "allocate,"', (1, 10), "spare comma"),
        ('actions: "allocate, elect"', (1, 21), "elect"),
        ('actions: "Allocate"', (1, 11), "Allocate"),
        ("actions:", (1, 9), "empty"),
        ("", (1, 1), "empty"),
        ("tiers: []", (1, 1), "empty"),
        ("actions: [allocate]", (1, 10), "must be text, not a list"),
        ("- actions", (1, 1), "must be a map"),
        ("actions: allocate\ntiers: gang", (2, 8), "must be a list, not text"),
        ("actions: allocate\ntiers: [gang]", (2, 9), "must be a map"),
        ("actions: allocate\ntiers: [{plugins: [gang]}]", (2, 20), "must be a map"),
        (tier("{name: gang, arguments: [a]}"), (4, 29), "arguments of plugin gang must be a map"),
        (tier("{name: [gang]}"), (4, 12), "must be text"),
        ("actions: allocate\nconfigurations: {a: b}", (2, 17), "must be a list"),
        ("actions: allocate\nmetrics: {interval: [30s]}", (2, 21), "metrics.interval must be text"),
        ("actions: allocate\n  tiers: x", (2, 8), "not YAML"),
        (tier("{name: gang, arguments: {a: &a [*a]}}"), (4, 33), "nested"),
    ],
)
def test_what_cannot_be_read_refuses_the_text_and_tells_the_place(text: str, place: tuple[int, int], part: str) -> None:
    (finding,) = refused(text)
    assert finding[:2] == place
    assert part in finding.message
    assert finding.severity == "error"


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_text() -> None:
    findings = refused('actions: "alocate,"\ntiers:\n- plugins:\n  - {name: gang, enableJobOrder: 1}\n')
    assert [finding[:2] for finding in findings] == [(1, 10), (1, 11), (4, 34)]


def test_an_unknown_plugin_is_an_error_that_does_not_refuse() -> None:
    configuration = read(tier("name: binpak", "name: gang"))
    assert configuration.findings == (Finding(4, 11, "error", 'unknown plugin "binpak" (did you mean binpack?)'),)
    assert names(configuration) == [["binpak", "gang"]]


def test_a_plugin_listed_twice_counts_once() -> None:
    configuration = read(tier("name: gang", "name: drf", "{name: gang, enableJobOrder: false}"))
    assert names(configuration) == [["gang", "drf"]]
    assert [f.message for f in configuration.findings] == ["plugin gang is listed above; this entry is ignored"]
    assert next(configuration.entries()).is_enabled("enableJobOrder")


def test_unknown_keys_are_ignored_with_a_warning() -> None:
    configuration = read("action: x\nactions: allocate\ntiers:\n- plugin: []\n")
    assert [f.severity for f in configuration.findings] == ["warning", "warning"]
    assert "did you mean actions?" in configuration.findings[0].message
    assert names(configuration) == [[]]


def test_empty_tiers_and_nulls_are_no_error() -> None:
    configuration = read("actions: allocate\ntiers:\n-\n- plugins:\nconfigurations:\nmetrics:\ncompatibility:\n")
    assert names(configuration) == [[], []]
    assert configuration.findings == ()


def test_proportion_and_a_hierarchical_drf_cannot_share_a_tier() -> None:
    (finding,) = refused(tier("{name: drf, enableHierarchy: true}", "name: proportion"))
    assert "proportion and drf with hierarchy enabled conflicts" in finding.message
    assert finding[:2] == (4, 34)


def test_in_two_tiers_proportion_and_a_hierarchical_drf_are_only_warned_about() -> None:
    text = tier("{name: drf, enableHierarchy: true}") + "- plugins:\n  - name: proportion\n"
    (finding,) = read(text).findings
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (tier("name: capacity", "name: proportion"), "capacity and proportion"),
        (tier("name: gang", actions="gangpreempt, preempt"), "gangpreempt and preempt"),
        (tier("{name: gang, enablePreemptable: false}", actions="preempt"), "enablePreemptable false"),
        (tier("{name: gang, enableReclaimable: false}", actions="reclaim"), "enableReclaimable false"),
        ("actions: allocate\nconfigurations: [{name: alocate}]", "did you mean allocate?"),
    ],
)
def test_doubtful_combinations_are_accepted_with_a_warning(text: str, part: str) -> None:
    (finding,) = read(text).findings
    assert finding.severity == "warning"
    assert part in finding.message


def test_the_first_configuration_of_an_action_holds() -> None:
    configuration = read(
        "actions: allocate\nconfigurations:\n"
        "- {name: allocate, arguments: {predicateErrorCacheEnable: false}}\n"
        "- {name: allocate, arguments: {predicateErrorCacheEnable: true, other: 1}}\n"
    )
    arguments = configuration.arguments_of("allocate")
    assert dict(arguments) == {"predicateErrorCacheEnable": False}
    assert arguments.owner == "action allocate"
    assert dict(configuration.arguments_of("preempt")) == {}
    assert [f.severity for f in configuration.findings] == ["warning"]


def test_metrics_are_texts_whatever_they_look_like() -> None:
    configuration = read("actions: allocate\nmetrics: {interval: 30, tls.insecureSkipVerify: true, type: , a: 010}")
    assert configuration.metrics == {
        "interval": "30",
        "tls.insecureSkipVerify": "true",
        "type": "",
        "a": "010",
    }


def test_argument_keys_are_texts_and_values_keep_their_type() -> None:
    (entry,) = read(tier("{name: gang, arguments: {08: 1e3, y: n, zone: 10:00-12:00}}")).entries()
    assert dict(entry.arguments) == {"08": 1000.0, "y": False, "zone": "10:00-12:00"}
    assert entry.arguments.owner == "plugin gang"


def test_hierarchy_is_asked_of_the_first_entry_of_a_plugin() -> None:
    configuration = read(tier("name: gang", "{name: capacity, enableHierarchy: true}"))
    assert configuration.is_hierarchical("capacity")
    assert not configuration.is_hierarchical("gang")
    assert not configuration.is_hierarchical("drf")


def test_a_configuration_can_be_given_as_data() -> None:
    configuration = from_mapping(
        {
            "actions": ["enqueue", "allocate"],
            "tiers": [{"plugins": [{"name": "gang", "enableJobOrder": False, "arguments": {"k": "yes"}}]}],
            "configurations": [{"name": "allocate", "arguments": {"n": 1e-5}}],
            "compatibility": {"profile": "reference"},
        }
    )
    (entry,) = configuration.entries()
    assert configuration.actions == ("enqueue", "allocate")
    assert not entry.is_enabled("enableJobOrder")
    assert entry.arguments["k"] == "yes"
    assert configuration.arguments_of("allocate")["n"] == 1e-5
    assert configuration.compatibility.role_skip is True


def test_a_compatibility_switch_wins_over_the_profile() -> None:
    conf = read("actions: allocate\ncompatibility: {profile: reference, roleSkip: false, barePods: schedule}\n")
    assert conf.compatibility.profile == "reference"
    assert conf.compatibility.role_skip is False
    assert conf.compatibility.bare_pods == "schedule"
    assert conf.compatibility.victim_veto == "tier"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{profile: refrence}", 'profile is "refrence"; it must be default or reference'),
        ("{victimVeto: tear}", "victimVeto is 'tear'; it takes protective or tier"),
        ("{roleSkip: 1}", "roleSkip is 1; it takes true or false"),
        ("reference", "compatibility must be a map, not text"),
    ],
)
def test_a_compatibility_value_that_does_not_exist_refuses_the_text(text: str, part: str) -> None:
    (finding,) = refused(f"actions: allocate\ncompatibility: {text}\n")
    assert part in finding.message


def test_a_misspelt_compatibility_switch_is_ignored_with_a_warning() -> None:
    (finding,) = read("actions: allocate\ncompatibility: {pdbstrict: true}\n").findings
    assert "did you mean pdbStrict?" in finding.message


@given(st.text(alphabet="actionserplug:{}[],-&*!? \n'\"enqu0.9~<", max_size=80))
def test_any_text_gives_a_configuration_or_refusing_findings(text: str) -> None:
    try:
        read(text)
    except ConfigurationError as error:
        refusing = [finding for finding in error.findings if finding.refuses]
    else:
        return
    assert refusing
