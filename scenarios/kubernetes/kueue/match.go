package kueue

import (
	"slices"
	"strconv"
)

// allows reports whether the pods may run on a flavor: its taints are tolerated, and no label
// contradicts the selector or the affinity. A key that no flavor of the group has is not looked at.
func allows(g *group, f *Flavor, p *PodSet) bool {
	if !tolerates(f.Taints, p.Tolerations, f.Tolerations) {
		return false
	}
	hasKey := func(key string) bool {
		return slices.ContainsFunc(g.flavors, func(o *Flavor) bool { _, has := o.NodeLabels[key]; return has })
	}
	return selects(f.NodeLabels, p, hasKey)
}

// selects reports whether labels satisfy the selector and the affinity of pods, looking only at keys
// for which known is true.
func selects(labels map[string]string, p *PodSet, known func(key string) bool) bool {
	for key, want := range p.NodeSelector {
		if got, ok := labels[key]; known(key) && (!ok || got != want) {
			return false
		}
	}
	if len(p.Affinity) == 0 {
		return true
	}
	return slices.ContainsFunc(p.Affinity, func(term []Requirement) bool {
		for _, r := range term {
			if known(r.Key) && !r.Holds(labels) {
				return false
			}
		}
		return true
	})
}

// Holds reports whether labels satisfy the requirement.
func (r *Requirement) Holds(labels map[string]string) bool {
	got, ok := labels[r.Key]
	switch r.Op {
	case "In":
		return ok && slices.Contains(r.Values, got)
	case "NotIn":
		return !ok || !slices.Contains(r.Values, got)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	case "Gt", "Lt":
		a, err := strconv.ParseInt(got, 10, 64)
		if !ok || err != nil || len(r.Values) != 1 {
			return false
		}
		b, err := strconv.ParseInt(r.Values[0], 10, 64)
		return err == nil && (r.Op == "Gt" && a > b || r.Op == "Lt" && a < b)
	}
	return false
}

// tolerates reports whether one of the lists tolerates each taint that keeps pods away.
func tolerates(taints []Taint, lists ...[]Toleration) bool {
	for i := range taints {
		t := &taints[i]
		if t.Effect == "PreferNoSchedule" {
			continue
		}
		if !slices.ContainsFunc(lists, func(list []Toleration) bool {
			return slices.ContainsFunc(list, func(x Toleration) bool { return x.covers(t) })
		}) {
			return false
		}
	}
	return true
}

func (x *Toleration) covers(t *Taint) bool {
	if x.Effect != "" && x.Effect != t.Effect || x.Key != "" && x.Key != t.Key {
		return false
	}
	return x.Exists || x.Key != "" && x.Value == t.Value
}

// MayRun reports whether pods may run on a node, by its taints, their selector and their affinity.
func MayRun(n *Node, p *PodSet) bool {
	return tolerates(n.Taints, p.Tolerations) && selects(n.Labels, p, func(string) bool { return true })
}
