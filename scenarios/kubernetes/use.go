package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
)

// meter integrates an amount over time.
type meter struct {
	changes []change
	limit   int64 // amounts above it count as over
}

// change is a change of an amount.
type change struct {
	at capcli.Seconds
	by int64
}

// used is what a meter tells of the time from 0 to an end.
type used struct {
	mean, overMean float64
	most           int64
	over           capcli.Seconds
}

func (m *meter) add(from, to capcli.Seconds, amount int64) {
	m.changes = append(m.changes, change{max(0, from), amount}, change{to, -amount})
}

// measure returns the figures. What ends at an instant is gone before what begins then counts.
func (m *meter) measure(end capcli.Seconds) used {
	slices.SortFunc(m.changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	var u used
	var now int64
	var area, over float64
	for i, c := range m.changes {
		now += c.by
		next := end
		if i+1 < len(m.changes) {
			next = min(end, m.changes[i+1].at)
		}
		length := next - c.at
		if length <= 0 {
			continue
		}
		u.most = max(u.most, now)
		area += float64(now) * float64(length)
		if now > m.limit {
			over += float64(now-m.limit) * float64(length)
			u.over += length
		}
	}
	if end > 0 {
		u.mean, u.overMean = area/float64(end), over/float64(end)
	}
	return u
}

// useSlot is a resource in a flavor, of a queue; "" is all queues.
type useSlot struct{ queue, flavor, resource string }

// useMeters measures what is used of quotas.
type useMeters struct {
	meters  map[useSlot]*meter
	nominal map[useSlot]int64
}

// open adds v to the quota of a slot.
func (u *useMeters) open(k useSlot, v int64) {
	if u.meters[k] == nil {
		u.meters[k] = &meter{}
	}
	u.nominal[k] += v
	u.meters[k].limit = u.nominal[k]
}

// addQuotas opens the slots of some groups, for a queue and for all.
func (u *useMeters) addQuotas(queue string, groups []kueue.ResourceGroup) {
	for _, g := range groups {
		for _, f := range g.Flavors {
			for name, q := range f.Quota {
				u.open(useSlot{"", f.Flavor, name}, q.Nominal)
				if queue != "" {
					u.open(useSlot{queue, f.Flavor, name}, q.Nominal)
				}
			}
		}
	}
}

// useRows adds the use of flavors and quotas, and of the namespaces' own quotas.
func (s *Study) useRows(r *Result) {
	m := &useMeters{map[useSlot]*meter{}, map[useSlot]int64{}}
	for i := range s.World.Cohorts {
		m.addQuotas("", s.World.Cohorts[i].ResourceGroups)
	}
	for i := range s.World.ClusterQueues {
		m.addQuotas(s.World.ClusterQueues[i].Name, s.World.ClusterQueues[i].ResourceGroups)
	}
	for i := range s.Stays {
		x := &s.Stays[i]
		for _, u := range x.Uses {
			for _, queue := range []string{"", s.World.Workloads[x.Workload].Queue} {
				k := useSlot{queue, u.Flavor, u.Resource}
				m.open(k, 0)
				m.meters[k].add(x.From, x.To, u.Amount)
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(m.meters), func(a, b useSlot) int {
		return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.flavor, b.flavor), cmp.Compare(a.resource, b.resource))
	})
	r.Flavors, r.Quotas = []FlavorRow{}, []QuotaRow{}
	for _, k := range keys {
		u := m.meters[k].measure(r.Length)
		unit, scale := unitOf(k.resource)
		row := FlavorRow{Flavor: k.flavor, Resource: k.resource, Unit: unit, Nominal: float64(m.nominal[k]) / scale, Mean: u.mean / scale, Most: float64(u.most) / scale}
		if row.Nominal > 0 {
			row.Share = row.Mean / float64(row.Nominal)
		}
		if k.queue == "" {
			r.Flavors = append(r.Flavors, row)
		} else if s.Plain != nil { // namespaces own no nodes, and borrow none
			r.Quotas = append(r.Quotas, QuotaRow{Queue: k.queue, FlavorRow: row})
		} else {
			r.Quotas = append(r.Quotas, QuotaRow{k.queue, row, u.overMean / scale, max(0, row.Most-row.Nominal)})
		}
	}
	s.namespaceRows(r)
}

// namespaceRows compares what namespaces held with their ResourceQuotas.
func (s *Study) namespaceRows(r *Result) {
	over := 0
	for _, q := range s.Quotas {
		for _, name := range slices.Sorted(maps.Keys(q.Hard)) {
			m := meter{limit: q.Hard[name]}
			for i := range s.Stays {
				x := &s.Stays[i]
				if s.Infos[x.Workload].Namespace != q.Namespace {
					continue
				}
				for _, u := range x.Uses {
					if u.Resource == name {
						m.add(x.From, x.To, u.Amount)
					}
				}
			}
			u := m.measure(r.Length)
			unit, scale := unitOf(name)
			r.Namespaces = append(r.Namespaces, NamespaceRow{q.Namespace, q.Name, name, unit, float64(q.Hard[name]) / scale, float64(u.most) / scale, u.over})
			if u.over > 0 {
				over++
			}
		}
	}
	if over > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("Kueue does not look at ResourceQuotas: pods count as running here that %d of them would refuse", over))
	}
}
