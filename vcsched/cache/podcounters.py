"""Pod counters: who stands where, as far as affinity and topology spread ask.

`cache.accounting` says of every task that enters or leaves the Kubernetes view of a node; filters and scores
read sums over topology domains. Nothing is counted until a pod owns a term or a pending pod asks: then the
pods that stand are filed once, and each counter is filled from them when it is first needed. Counters follow
allocations, evictions and their undoing at once; the reference's are partly frozen at the start of its cycle
(spec 06 §2.12 rule 4, §11 no. 1, 2). Design-notes §2.7.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from vcsched.cache.labelindex import PodIndex, SelectorIndex
from vcsched.cache.podneeds import PodNeeds
from vcsched.cache.podrelations import NO_NEEDS, Needs, PlacedPod, Question, Relations, Term
from vcsched.cache.topology import Topology
from vcsched.cache.workloads import WorkloadSelectors
from vcsched.columns.counters import Clock
from vcsched.model.pod_affinity import PodAffinityRule, PodTerm, pod_affinity_rule
from vcsched.model.selectors import LabelRule, Selector

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.model.form import Form
    from vcsched.model.task import Task

NOTHING: frozenset[int] = frozenset()
SWEEP_EVERY = 64  # sessions


class PodCounters:
    """`match` and `relations` for who asks, `placed` … `workload_changed` for who knows.

    `version` moves when the match of a pod may have become another one.
    """

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._clock = Clock()
        self.topology = Topology(picture, self._clock)
        self.version = 0
        self.active = False  # something is counted
        self._workloads = WorkloadSelectors(picture)
        self._pods: PodIndex[PlacedPod] = PodIndex()
        self._numbers = count()
        self._questions: dict[tuple[Selector, bool], Question] = {}
        self._asked: SelectorIndex[Question] = SelectorIndex()
        self._terms: dict[tuple[Selector, str, int], Term] = {}
        self._meant: SelectorIndex[Term] = SelectorIndex()
        self._term_of: dict[int, Term] = {}
        self._needs = PodNeeds(self._question, self.rule_of, self._workloads, self._numbers)
        self._relations: dict[frozenset[int], Relations] = {NOTHING: Relations((), NO_NEEDS)}
        self._rules: dict[Form, PodAffinityRule] = {}
        self._by_namespace_labels = False  # some rule found its namespaces by their labels
        self._scopes_are_old = False  # those may be others now
        self._round = 0

    # ------------------------------------------------------------------ told by accounting and handlers

    def placed(self, task: Task, row: int) -> None:
        """The task entered the view of a node."""
        if not self.active:
            if task.form.spec.affinity is None or not self._owned_terms(task.form):
                return
            self._activate()
        if task.uid not in self._pods.by_uid:
            self._place(task, row)

    def removed(self, task: Task, row: int) -> None:
        """The task left the view of a node."""
        if self.active:
            pod = self._pods.pop(task.uid)
            if pod is not None:
                pod.count(-1)

    def terminating(self, task: Task) -> None:
        """The pod got or lost its deletion timestamp; spreading counts no pods that are being deleted."""
        self._place_again(task.uid)

    def node_changed(self, row: int) -> None:
        """A node came, or has other labels or taints."""
        self.topology.nodes_changed()

    def node_removed(self, row: int) -> None:
        """A node went; its tasks were removed before."""
        self.topology.nodes_changed()

    def rows_renumbered(self) -> None:
        """Nodes have other rows: file all pods anew."""
        self.topology.nodes_changed()
        for uid in list(self._pods.by_uid):
            pod = self._pods.pop(uid)
            if pod is not None:
                pod.count(-1)
        if self.active:
            self._activate()

    def namespace_changed(self, name: str) -> None:
        """A namespace came, went, or has other labels: terms that choose namespaces by label mean others."""
        if self._by_namespace_labels:
            self._by_namespace_labels = False
            self._rules.clear()
            self._needs.forget_wishes()
            self._scopes_are_old = True
            self.version += 1

    def workload_changed(self, namespace: str) -> None:
        """A Service or workload controller of a namespace came, went, or selects other pods."""
        self._workloads.changed(namespace)
        if self._needs.spreads_by_default:
            self.version += 1

    def use_default_spread(self) -> None:
        """Somebody scores the spread of pods that declare no constraint: from now on they are counted."""
        if not self._needs.spreads_by_default:
            self._needs.spreads_by_default = True
            self.version += 1

    # ------------------------------------------------------------------ asked by the framework and plugins

    def match(self, task: Task) -> frozenset[int]:
        """What this pod has to do with others, as numbers; equal for pods that get the same answers."""
        if self._scopes_are_old:
            self._find_scopes()
        numbers: list[int] = []
        needs = self._needs.of(task)
        if needs is not None:
            numbers.append(needs)
            if task.form.spec.affinity is not None:
                # known before the first of them is placed, so that the rest of a gang stays one shape
                for said in self._owned_terms(task.form):
                    self._term(said)
        if self._terms:
            numbers += [t.number for t in self._meant.find(task.namespace, task.pod.metadata.labels)]
        return frozenset(numbers) if numbers else NOTHING

    def relations(self, match: frozenset[int]) -> Relations:
        """What the numbers of a match stand for."""
        found = self._relations.get(match)
        if found is None:
            terms = [self._term_of[number] for number in sorted(match) if number in self._term_of]
            needs = next((each for number in match if (each := self._needs.at(number))), NO_NEEDS)
            found = self._relations[match] = Relations(tuple(terms), needs)
        found.used = self._round
        return found

    def rule_of(self, form: Form) -> PodAffinityRule:
        """The affinity terms of a form, with namespaces as they are now."""
        rule = self._rules.get(form)
        if rule is None:
            rule = self._rules[form] = pod_affinity_rule(form.spec, form.namespace, self._namespaces_with)
            self._by_namespace_labels |= any(term.by_namespace_labels for term in rule.terms)
        return rule

    def sweep(self) -> None:
        """Between sessions: let go of sums, which the next reader makes anew, and every now and then of
        counters that nobody asked for since the last time."""
        self.topology.forget_sums()
        self._round += 1
        if self._round % SWEEP_EVERY:
            return
        since = self._round - SWEEP_EVERY
        self._relations = {match: each for match, each in self._relations.items() if each.used >= since}
        needs = {relations.needs for relations in self._relations.values()}
        wanted = {question for each in needs for question in questions_of(each)}
        unasked = [question for question in self._questions.values() if question not in wanted]
        met = {term for each in self._relations.values() for term in (*each.keep_off, *each.draw)}
        unowned = [term for term in self._terms.values() if not term.tally.rows and term not in met]
        for question in unasked:
            del self._questions[question.selector, question.living]
            self._asked.remove(question.selector, question)
        for term in unowned:
            del self._terms[term.selector, term.topology_key, term.weight], self._term_of[term.number]
            self._meant.remove(term.selector, term)
        if self._needs.keep(needs) or unasked or unowned:
            self.version += 1

    # ------------------------------------------------------------------ pods on nodes

    def _activate(self) -> None:
        """File all pods that stand on nodes."""
        self.active = True
        for node in self._picture.node_at:
            if node is not None:
                for task in node.tasks.values():
                    if not task.hidden:
                        self._place(task, node.row)

    def _place(self, task: Task, row: int) -> None:
        asked = self._asked.find(task.namespace, task.pod.metadata.labels)
        owned = self._owned_terms(task.form) if task.form.spec.affinity is not None else ()
        pod = PlacedPod(task, row, asked, tuple(self._term(term) for term in owned))
        self._pods.add(pod)
        pod.count(1)

    def _place_again(self, uid: str) -> None:
        pod = self._pods.pop(uid)
        if pod is not None:
            pod.count(-1)
            self._place(pod.task, pod.row)

    def _find_scopes(self) -> None:
        """Count the owners of terms anew, with the namespaces that their terms mean now."""
        self._scopes_are_old = False
        for uid in [uid for uid, pod in self._pods.by_uid.items() if pod.owned]:
            self._place_again(uid)

    # ------------------------------------------------------------------ registry

    def _owned_terms(self, form: Form) -> tuple[PodTerm, ...]:
        """The terms by which placed pods of this form concern others. (Their required affinity does not: the
        reference gives it weight 0, spec 06 §3.6.)"""
        rule = self.rule_of(form)
        return (*rule.anti_affinity, *rule.preferred)

    def _namespaces_with(self, rule: LabelRule) -> frozenset[str]:
        namespaces = self._picture.namespaces
        return frozenset(name for name, obj in namespaces.items() if rule.matches(obj.metadata.labels))

    def _term(self, said: PodTerm) -> Term:
        key = (said.selector, said.topology_key, said.weight)
        term = self._terms.get(key)
        if term is None:
            term = self._terms[key] = Term(next(self._numbers), *key, self._clock)
            self._term_of[term.number] = term
            self._meant.add(said.selector, term)
            self.version += 1
        return term

    def _question(self, selector: Selector, *, living: bool = False) -> Question:
        question = self._questions.get((selector, living))
        if question is None:
            if not self.active:
                self._activate()
            question = Question(next(self._numbers), selector, living, self._clock)
            self._questions[selector, living] = question
            self._asked.add(selector, question)
            for pod in self._pods.find(selector):
                pod.asked.append(question)
                if not (living and pod.terminating):
                    question.tally.add(pod.row, 1)
        return question

    # ------------------------------------------------------------------ proof

    def verify(self) -> None:
        """Recompute everything from the tasks on the nodes. Raises `AssertionError` with what differs."""
        if not self.active:
            return
        if self._scopes_are_old:
            self._find_scopes()
        standing = {
            task.uid: (task, node.row)
            for node in self._picture.node_at
            if node is not None
            for task in node.tasks.values()
            if not task.hidden
        }
        counted = {uid: (pod.task, pod.row) for uid, pod in self._pods.by_uid.items()}
        _same("pods on nodes", counted, standing)
        for question in self._questions.values():
            rows: dict[int, int] = {}
            for task, row in standing.values():
                meta = task.pod.metadata
                if question.living and meta.deletion_timestamp is not None:
                    continue
                if question.selector.selects(task.namespace, meta.labels):
                    rows[row] = rows.get(row, 0) + 1
            _same(f"pods meant by {question.selector}", question.tally.rows, rows)
        owners: dict[tuple[Selector, str, int], dict[int, int]] = {key: {} for key in self._terms}
        for task, row in standing.values():
            for said in self._owned_terms(task.form):
                rows = owners[said.selector, said.topology_key, said.weight]
                rows[row] = rows.get(row, 0) + 1
        for key, term in self._terms.items():
            _same(f"owners of {key}", term.tally.rows, owners[key])
        self.topology.verify()


def questions_of(needs: Needs) -> list[Question]:
    """All counters that a pod's needs read."""
    together = [needs.together] if needs.together is not None else []
    counted = [each.question for each in (*needs.apart, *needs.preferred)]
    return together + counted + [each.question for each in (*needs.hard, *needs.soft)]


def _same(what: str, kept: object, recomputed: object) -> None:
    if kept != recomputed:
        raise AssertionError(f"{what}: kept {kept}, recomputed {recomputed}")
